// Neighbours. Variant 0 is right; the others make one mistake each, at the lines that say so.
#include <cstdlib>
#include <utility>

constexpr int threads = 64;

__global__ void blur(int variant, int n, const float* x, float* y) {
  __shared__ float part[threads + 2];
  const int t = threadIdx.x + 1;
  const int i = blockIdx.x * threads + threadIdx.x;
  part[t] = x[i];  // 1: race
  if (threadIdx.x == 0) {
    const bool is_there = i > 0 || variant == 6;
    part[0] = is_there ? x[i - 1] : 0;  // 6: beyond
  }
  if (threadIdx.x == threads - 1 && variant != 2) {
    const bool is_there = i + 1 < n || variant == 7;
    part[threads + 1] = is_there ? x[i + 1] : 0;  // 7: beyond
  }
  if (variant != 1) __syncthreads();
  y[i] = part[t - 1] + part[t] + part[t + 1];  // 1: race, 2: unwritten
}

// One step in place, of one block.
__global__ void shift(int variant, float* x) {
  const float right = x[threadIdx.x + 1];  // 3: race
  if (variant != 3) __syncthreads();
  x[threadIdx.x] = right;  // 3: race
}

// The next block's first element may be old or new.
__global__ void average(int variant, int n, const float* x, float* y) {
  const int i = blockIdx.x * threads + threadIdx.x;
  const float right = i + threads < n ? (variant == 4 ? y : x)[i + threads] : 0;  // 4: race
  y[i] = (x[i] + right) / 2;                                                      // 4: race
}
constexpr int only_last = 2 * threads;  // so that there is one such pair of blocks

__global__ void diffuse(int variant, int steps, float* x) {
  __shared__ float buffers[2][threads];
  float* now = buffers[0];
  float* next = buffers[1];
  const int t = threadIdx.x;
  now[t] = x[t];
  __syncthreads();
  for (int i = 0; i < steps; ++i) {
    const float sum = now[(t + threads - 1) % threads] + now[(t + 1) % threads];  // 5: race
    next[t] = sum / 2;                                                            // 5: race
    if (variant != 5) __syncthreads();
    std::swap(now, next);
  }
  x[t] = now[t];
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 4 * threads;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  blur<<<n / threads, threads>>>(variant, n, x, y);
  shift<<<1, threads>>>(variant, x);
  average<<<only_last / threads, threads>>>(variant, only_last, x, y);
  diffuse<<<1, threads>>>(variant, 7, x);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
