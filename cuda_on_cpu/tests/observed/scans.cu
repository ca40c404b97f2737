// Prefix sums and lists. Variant 0 is right; the others make one mistake each, at the lines that
// say so.
#include <cstdlib>

constexpr int threads = 64;

__global__ void scan(int variant, const int* x, int* y, int* sums) {
  __shared__ int part[threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  part[t] = x[i];
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    int left = 0;
    if (t >= step) left = part[t - step];  // 1: race, 2: race
    if (variant != 1) __syncthreads();
    part[t] += left;  // 1: race, 2: race
    if (variant != 2) __syncthreads();
  }
  y[i] = part[t];
  if (t == threads - 1) sums[blockIdx.x] = part[t];  // 4: race
  if (variant == 4) {
    int before = 0;
    for (int block = 0; block < gridDim.x; ++block) {
      if (block != blockIdx.x) before += sums[block];  // 4: race
    }
    y[i] += before;
  }
}

__global__ void scan_twice(int variant, const int* x, int* y) {
  __shared__ int parts[2][threads];
  const int t = threadIdx.x;
  int from = 0;
  parts[0][t] = x[t];
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    const int own = parts[from][t];
    const int left = t >= step ? parts[from][t - step] : 0;  // 3: race
    parts[1 - from][t] = own + left;                         // 3: race
    from = 1 - from;
    if (variant != 3) __syncthreads();
  }
  y[t] = parts[from][t];
}

__global__ void keep_odd(int variant, const int* x, int* y, int* count) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (x[threadIdx.x] % 2 != 0) {
    int place;
    if (variant == 5) {
      place = next++;  // 5: race
    } else {
      place = atomicAdd(&next, 1);
    }
    y[variant == 6 ? 0 : place] = x[threadIdx.x];  // 6: race
  }
  __syncthreads();
  if (threadIdx.x == 0) *count = next;
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 4 * threads;
  int host[n];
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  int *x, *y, *sums;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&sums, sizeof host);
  cudaMemset(sums, 0, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scan<<<4, threads>>>(variant, x, y, sums);
  scan_twice<<<1, threads>>>(variant, x, y);
  keep_odd<<<1, threads>>>(variant, x, y, sums);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
