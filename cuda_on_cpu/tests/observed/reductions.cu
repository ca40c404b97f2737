// Sums and maxima of a block. Variant 0 is right; the others make one mistake each, at the lines
// that say so.
#include <cstdio>
#include <cstdlib>

constexpr int threads = 128;

__global__ void normalize(int variant, const float* x, float* y) {
  __shared__ float partial[threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  partial[t] = x[i];  // 1: race
  if (variant != 1) __syncthreads();
  for (int width = threads / 2; width > 0; width /= 2) {
    if (t < width) {
      partial[t] += partial[t + width];  // 1: race, 2: race, 3: race
    }
    if (variant != 2 && (variant != 3 || width > 1)) __syncthreads();
  }
  y[i] = x[i] / partial[0];  // 3: race
}

__global__ void range(int variant, const float* x, float* y) {
  __shared__ float partial[threads];
  const int t = threadIdx.x;
  partial[t] = x[t];
  for (int width = threads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (t < width) partial[t] = fmaxf(partial[t], partial[t + width]);
  }
  __syncthreads();
  const float largest = partial[0];  // 4: race
  if (variant != 4) __syncthreads();
  partial[t] = x[t];  // 4: race
  for (int width = threads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (t < width) partial[t] = fminf(partial[t], partial[t + width]);
  }
  if (t == 0) *y = largest - partial[0];
}

__global__ void count_positive(int variant, const float* x, int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  // 5: race
  if (variant != 5) __syncthreads();
  if (x[threadIdx.x] > 0) {
    atomicAdd(&count, 1);  // 5: race, 6: race
  }
  if (variant != 6) __syncthreads();
  if (threadIdx.x == 5) *y = count;  // 6: race
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 4 * threads;
  float host[n];
  for (int i = 0; i < n; ++i) host[i] = 1;
  float *x, *y;
  int* count;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&count, sizeof *count);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  normalize<<<4, threads>>>(variant, x, y);
  range<<<1, threads>>>(variant, x, y);
  count_positive<<<1, threads>>>(variant, x, count);
  int positive = 0;
  const cudaError_t error = cudaMemcpy(&positive, count, sizeof positive, cudaMemcpyDeviceToHost);
  return error == cudaSuccess && positive == threads ? 0 : 1;
}
