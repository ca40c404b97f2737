// A histogram with a private copy a block, in the manner of a course's exercise.
#include <stdio.h>
#include <stdlib.h>

#define BINS 16

__global__ void histogram(const unsigned char *data, int n, unsigned int *bins) {
  __shared__ unsigned int local[BINS];
  if (threadIdx.x < BINS) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i] % BINS], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main(void) {
  const int n = 1 << 16;
  unsigned char *data = (unsigned char *)malloc(n);
  for (int i = 0; i < n; i++) data[i] = (unsigned char)(i * 7 + i / 256);

  unsigned char *d_data;
  unsigned int *d_bins, bins[BINS];
  cudaMalloc((void **)&d_data, n);
  cudaMalloc((void **)&d_bins, sizeof(bins));
  cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, sizeof(bins));
  histogram<<<32, 128>>>(d_data, n, d_bins);
  cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost);

  unsigned int total = 0;
  for (int i = 0; i < BINS; i++) total += bins[i];
  printf("%u values in %d bins, the first has %u\n", total, BINS, bins[0]);
  cudaFree(d_data);
  cudaFree(d_bins);
  free(data);
  return 0;
}
