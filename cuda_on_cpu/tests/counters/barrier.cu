// A copy of many bytes that a barrier waits for: each vector is loaded and stored once.
#include <cuda/barrier>

__global__ void copied_by_one(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  __shared__ alignas(16) float row[1024];
  if (threadIdx.x == 0) init(&arrived, 32);
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(row, in, sizeof(row), arrived);
  arrived.arrive_and_wait();
  out[threadIdx.x] = row[threadIdx.x * 32];
}

int main() {
  float* memory = nullptr;
  if (cudaMalloc(&memory, 2048 * sizeof(float)) != cudaSuccess) return 1;
  cudaMemset(memory, 0, 2048 * sizeof(float));
  copied_by_one<<<1, 32>>>(memory, memory + 1024);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
