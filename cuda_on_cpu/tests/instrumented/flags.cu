// Two blocks that tell each other by words how far they are. Variant 0 is right; the others make
// one mistake each, at the lines that say so.
#include <cuda/atomic>
#include <cuda_on_cpu/words.hpp>

#include <cuda_on_cpu/declare.h>

#include "device_memory.h"

constexpr int threads = 64;
constexpr int blocks = 2;
constexpr int turns = 4;

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void exchange(int variant, float* data, unsigned* words, float* sum) {
  const int other = 1 - blockIdx.x;
  float own = threadIdx.x;
  for (unsigned turn = 1; turn <= turns; ++turn) {
    const int half =
        variant == 5 ? 0 : turn % 2;  // who sends turn t + 2 has turn t + 1 from others
    float* const mine = data + (half * blocks + blockIdx.x) * threads;
    const float* const theirs = data + (half * blocks + other) * threads;
    const int place = variant == 8 ? 0 : half;
    unsigned* const to = words + place * blocks + blockIdx.x;
    unsigned* const from = words + place * blocks + other;
    if (variant != 1) mine[threadIdx.x] = own;  // 2: race, 4: race, 5: race
    if (variant != 2) __syncthreads();
    if (threadIdx.x == 0) {
      cuda_on_cpu::declare_sent(to, turn);  // 3: number, 8: replaced
      Word(*to).store(turn, cuda::memory_order_relaxed);
    }
    if (variant == 1) mine[threadIdx.x] = own;  // 1: race
    if (threadIdx.x == 0) {
      for (;;) {
        const unsigned found = Word(*from).load(cuda::memory_order_relaxed);
        if (variant == 3 ? found != 0 : found == turn) break;
        __nanosleep(0);
      }
      cuda_on_cpu::declare_received(from, turn);  // 3: number, 8: replaced
    }
    if (variant != 4) __syncthreads();
    own += theirs[threadIdx.x];  // 1: race, 2: race, 4: race, 5: race
    if (variant == 6 && turn == 2 && threadIdx.x == 1) *sum += own;  // 6: race
    __syncthreads();
  }
  if (variant == 7 && threadIdx.x == 0) {
    cuda_on_cpu::declare_received(words + 2 * blocks, 1);  // 7: number
  }
}

// A launch so long that time begins anew, at the send of a word that is in use.
__global__ void send_for_long(unsigned* word) {
  __shared__ unsigned own;
  constexpr unsigned sends = 1000;
  if (threadIdx.x == 0) {
    for (cuda_on_cpu::Time i = 0; i < cuda_on_cpu::max_time - sends / 2; ++i) __threadfence();
    cuda_on_cpu::declare_sent(word, 1);
  }
  __syncthreads();
  if (threadIdx.x == 1) cuda_on_cpu::declare_received(word, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i <= sends; ++i) {
      cuda_on_cpu::declare_sent(&own, i);
      cuda_on_cpu::declare_received(&own, i);
    }
    cuda_on_cpu::declare_sent(word, 2);
  }
}

int main(int argc, char** argv) {
  const int variant = argc > 1 ? std::atoi(argv[1]) : 0;
  auto* data = zeros<float>(2 * blocks * threads);
  auto* sum = zeros<float>(1);
  auto* words = zeros<unsigned>(2 * blocks + 1);
  int given = variant;
  void* arguments[] = {&given, &data, &words, &sum};
  cudaLaunchCooperativeKernel(exchange, dim3(blocks), dim3(threads), arguments, 0, nullptr);
  if (variant == 0) send_for_long<<<1, 2>>>(words);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
