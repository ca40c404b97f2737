// Threads that wait for a flag: each is counted with its first look, however often it has to look.
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void waits(int* flag, int* out, int looks) {
  const Flag raised(*flag);
  int seen = 0;
  for (int i = 0; i < looks; ++i) {
    seen += raised.load(cuda::memory_order_relaxed);
    __nanosleep(0);  // lets the others run
  }
  out[threadIdx.x] = seen;
}

int main(int count, char**) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, 33 * sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(memory, 0, 33 * sizeof(int));
  waits<<<1, 32>>>(memory, memory + 1, count == 1 ? 1 : 50);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
