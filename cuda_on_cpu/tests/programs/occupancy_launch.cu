// The block size that fills the device, with and without shared memory that grows with the block.
#include <stdio.h>

__global__ void square(int* array, int arrayCount) {
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx < arrayCount) array[idx] *= array[idx];
}

__global__ void reduce(const int* in, int n, unsigned long long* total) {
  extern __shared__ unsigned long long buffer[];
  unsigned int tid = threadIdx.x;
  unsigned long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  buffer[tid] = sum;
  __syncthreads();
  if (tid == 0) {
    for (unsigned int i = 1; i < blockDim.x; i++) sum += buffer[i];
    atomicAdd(total, sum);
  }
}

int main() {
  const int count = 30000;
  int *array, *d_array;
  unsigned long long *d_total, total = 0, expected = 0;
  array = new int[count];
  for (int i = 0; i < count; i++) { array[i] = i % 100; expected += (i % 100) * (i % 100); }
  cudaMalloc(&d_array, count * sizeof(int));
  cudaMalloc(&d_total, sizeof(*d_total));
  cudaMemset(d_total, 0, sizeof(*d_total));
  cudaMemcpy(d_array, array, count * sizeof(int), cudaMemcpyHostToDevice);

  int blockSize, minGridSize, gridSize;
  cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, (void*)square, 0, count);
  gridSize = (count + blockSize - 1) / blockSize;
  square<<<gridSize, blockSize>>>(d_array, count);

  int maxActiveBlocks, device;
  cudaDeviceProp props;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&props, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&maxActiveBlocks, square, blockSize, 0);
  float occupancy = (maxActiveBlocks * blockSize / props.warpSize) /
                    (float)(props.maxThreadsPerMultiProcessor / props.warpSize);
  printf("whole warps: %s, occupancy: %.2f\n", blockSize % props.warpSize == 0 ? "yes" : "no", occupancy);

  auto bytes = [](int block) { return block * sizeof(unsigned long long); };
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGridSize, &blockSize, reduce, bytes);
  reduce<<<minGridSize, blockSize, bytes(blockSize)>>>(d_array, count, d_total);
  cudaMemcpy(&total, d_total, sizeof(total), cudaMemcpyDeviceToHost);
  printf("sum of squares: %llu, %s\n", total, total == expected ? "right" : "wrong");

  // Two blocks fit with half of the shared memory each, but none gets more than the kernel may have.
  size_t available = 0;
  cudaOccupancyAvailableDynamicSMemPerBlock(&available, reduce, 2, 256);
  printf("two blocks at a time may have %s\n", available > 48 * 1024 ? "more than 48 KiB each" : "48 KiB each at most");
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_array);
  cudaFree(d_total);
  delete[] array;
}
