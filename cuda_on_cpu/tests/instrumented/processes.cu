// Two processes that share memory: the child writes what the parent reads. Variant 0 is right; the
// others make one mistake each, at the lines that say so.
#include <cuda/atomic>

#include <sys/wait.h>
#include <unistd.h>

#include "device_memory.h"

constexpr int threads = 64;
constexpr int turns = 3;

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

// Waits until the flag is there, but not for ever.
__device__ bool wait_for(unsigned* flag, unsigned turn, cuda::memory_order order) {
  for (int tries = 0; tries < 1 << 18; ++tries) {
    if (Flag(*flag).load(order) >= turn) return true;
    __nanosleep(0);
  }
  return false;
}

// Flags that are stored and found by release and acquire, or with a fence before and behind.
__device__ void store(unsigned* flag, unsigned turn, bool is_wrong) {
  if (is_wrong) {
    Flag(*flag).store(turn, cuda::memory_order_relaxed);
  } else if (turn % 2 == 0) {
    __threadfence_system();
    Flag(*flag).store(turn, cuda::memory_order_relaxed);
  } else {
    Flag(*flag).store(turn, cuda::memory_order_release);
  }
}
__device__ bool find(unsigned* flag, unsigned turn, bool is_wrong) {
  if (is_wrong) return wait_for(flag, turn, cuda::memory_order_relaxed);
  if (turn % 2 != 0) return wait_for(flag, turn, cuda::memory_order_acquire);
  const bool is_there = wait_for(flag, turn, cuda::memory_order_relaxed);
  __threadfence_system();
  return is_there;
}

__global__ void write(int variant, unsigned turn, float* data, unsigned* flags) {
  if (__syncthreads_or(threadIdx.x == 0 && !find(flags + 1, turn - 1, variant == 4))) return;
  data[threadIdx.x] = turn;  // 1: race, 2: race, 3: race, 4: race, 5: race, 6: race
  if (variant != 3) __syncthreads();
  if (threadIdx.x == 0) store(flags, turn, variant == 1);
}

__global__ void read(int variant, unsigned turn, const float* data, unsigned* flags, float* sum) {
  if (variant == 5) {
    if (threadIdx.x == 0) find(flags, turn, false);
  } else if (__syncthreads_or(threadIdx.x == 0 && !find(flags, turn, variant == 2))) {
    return;
  }
  sum[threadIdx.x] += data[threadIdx.x];  // 1: race, 2: race, 3: race, 4: race, 5: race
  __syncthreads();
  if (threadIdx.x == 0) store(flags + 1, turn, false);
}

int main(int argc, char** argv) {
  int variant = argc > 1 ? std::atoi(argv[1]) : 0;
  int to_child[2];
  if (pipe(to_child) != 0) return 2;
  const bool is_child = fork() == 0;
  cudaIpcMemHandle_t handle;
  char* memory = nullptr;
  if (is_child) {
    if (::read(to_child[0], &handle, sizeof handle) != sizeof handle) return 2;
    if (cudaIpcOpenMemHandle((void**)&memory, handle, cudaIpcMemLazyEnablePeerAccess) !=
        cudaSuccess)
      return 2;
  } else {
    memory = zeros<char>(4096);
    cudaIpcGetMemHandle(&handle, memory);
    if (::write(to_child[1], &handle, sizeof handle) != sizeof handle) return 2;
  }
  auto* const flags = reinterpret_cast<unsigned*>(memory);
  auto* const data = reinterpret_cast<float*>(memory + 1024);
  auto* const sum = zeros<float>(threads);
  for (unsigned turn = 1; turn <= turns; ++turn) {
    if (is_child) {
      write<<<1, threads>>>(variant, turn, data, flags);
    } else {
      if (variant == 6 && turn == 2) {
        float numbers[threads];
        unsigned flag = 0;
        while (flag < turn) cudaMemcpy(&flag, flags, sizeof flag, cudaMemcpyDeviceToHost);
        cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost);
      }
      read<<<1, threads>>>(variant, turn, data, flags, sum);
    }
  }
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  if (is_child) {
    cudaIpcCloseMemHandle(memory);
    return good ? 0 : 1;
  }
  float numbers[threads];
  cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost);
  int status = 0;
  wait(&status);
  return good && status == 0 && numbers[threads - 1] == turns ? 0 : 1;
}
