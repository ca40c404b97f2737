// expect: 4 executable graphs
__global__ void difference_kernel(int n, const float* target, const float* x, float* difference) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) difference[i] = target[i] - x[i];
}

__global__ void move_kernel(int n, int step, const float* rates, const float* difference,
                            float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += rates[step] * difference[i];
}

// Records every step: right, but more expensive than without graphs.
void run_steps(int n, int steps, const float* target, const float* rates, float* x,
               cudaStream_t stream) {
  float* difference = nullptr;
  cudaMalloc(&difference, n * sizeof(float));
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;
  for (int step = 0; step < steps; ++step) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    difference_kernel<<<blocks, threads, 0, stream>>>(n, target, x, difference);
    move_kernel<<<blocks, threads, 0, stream>>>(n, step, rates, difference, x);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaFree(difference);
}
