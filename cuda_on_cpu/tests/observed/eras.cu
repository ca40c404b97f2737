// A launch so long that time begins anew, at the send of a word that is in use. There is only
// variant 0, which is right.
#include <cuda_on_cpu/words.hpp>

#include <cuda_on_cpu/declare.h>

constexpr unsigned sends = 1000;

__global__ void send_for_long(unsigned* word) {
  __shared__ unsigned own;
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

int main() {
  unsigned* word = nullptr;
  cudaMalloc(&word, sizeof *word);
  send_for_long<<<1, 2>>>(word);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
