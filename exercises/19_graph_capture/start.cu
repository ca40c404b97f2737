__global__ void difference_kernel(int n, const float* target, const float* x, float* difference) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) difference[i] = target[i] - x[i];
}

__global__ void move_kernel(int n, int step, const float* rates, const float* difference,
                            float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += rates[step] * difference[i];
}

/// Moves x towards the target, at a rate of its own for each step.
void run_steps(int n, int steps, const float* target, const float* rates, float* x,
               cudaStream_t stream) {
  float* difference = nullptr;
  cudaMalloc(&difference, n * sizeof(float));
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;
  for (int step = 0; step < steps; ++step) {
    difference_kernel<<<blocks, threads, 0, stream>>>(n, target, x, difference);
    move_kernel<<<blocks, threads, 0, stream>>>(n, step, rates, difference, x);
  }
  cudaStreamSynchronize(stream);
  cudaFree(difference);
}
