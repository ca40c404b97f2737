// expect: only 1 of the 32 threads of a warp
// Only the first thread of each warp works.
__global__ void square_kernel(int n, float* x) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread % 32 == 0 && thread / 32 < n) x[thread / 32] *= x[thread / 32];
}

void square_all(int n, float* x) {
  square_kernel<<<(n + 3) / 4, 128>>>(n, x);
}
