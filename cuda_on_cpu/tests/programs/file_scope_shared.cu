// Shared memory that is declared outside of the kernels, and one dynamic array for several of different types.
#include <cstdio>
#include <cstdlib>

#define CUDA_OK(x) do { if ((x) != cudaSuccess) { std::printf("failed: %s\n", #x); std::exit(1); } } while (false)

extern __shared__ float sdata[];
__shared__ int block_max;

__device__ float sum_of_block() {
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) sdata[threadIdx.x] += sdata[threadIdx.x + s];
    __syncthreads();
  }
  return sdata[0];
}

__global__ void sums(const float* in, float* out, int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  const float sum = sum_of_block();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void largest(const int* in, int* out, int n) {
  if (threadIdx.x == 0) block_max = 0;
  __syncthreads();
  if (threadIdx.x < n) atomicMax(&block_max, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *out = block_max;
}

// The same name, but of this kernel's own: bytes that are carved up.
__global__ void carved(int* out, int n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  double* const weights = reinterpret_cast<double*>(bytes);
  int* const counts = (int*)&weights[n];
  short* const flags = (short*)(counts + n);
  const int t = threadIdx.x;
  weights[t] = 0.25 * t;
  counts[t] = 2 * t;
  flags[t] = short(t % 2);
  __syncthreads();
  const int other = n - 1 - t;
  out[t] = int(4 * weights[other]) + counts[other] + flags[other];
}

int main() {
  const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
  float in[n], out[blocks];
  for (int i = 0; i < n; ++i) in[i] = float(i % 10);
  float *d_in, *d_out;
  int* d_int;
  CUDA_OK(cudaMalloc(&d_in, sizeof(in)));
  CUDA_OK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_OK(cudaMalloc(&d_int, 65 * sizeof(int)));
  CUDA_OK(cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice));
  sums<<<blocks, threads, threads * sizeof(float)>>>(d_in, d_out, n);
  CUDA_OK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  float total = 0;
  for (float part : out) total += part;
  carved<<<1, 64, 64 * (sizeof(double) + sizeof(int) + sizeof(short))>>>(d_int, 64);
  largest<<<1, 64>>>(d_int, d_int + 64, 64);
  int host[65];
  CUDA_OK(cudaMemcpy(host, d_int, sizeof(host), cudaMemcpyDeviceToHost));
  std::printf("%.0f; %d %d %d; %d\n", total, host[0], host[1], host[63], host[64]);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_int);
}
