// expect: only 1 block of 1 thread
__global__ void difference_kernel(int n, const float* target, const float* x, float* difference) {
  for (int i = 0; i < n; ++i) difference[i] = target[i] - x[i];
}

__global__ void move_kernel(int n, const int* step, const float* rates, const float* difference,
                            float* x) {
  for (int i = 0; i < n; ++i) x[i] += rates[*step] * difference[i];
}

__global__ void next_kernel(int* step) {
  ++*step;
}

/// Moves x towards the target, at a rate of its own for each step.
void run_steps(int n, int steps, const float* target, const float* rates, float* x,
               cudaStream_t stream) {
  float* difference = nullptr;
  cudaMalloc(&difference, n * sizeof(float));
  int* step = nullptr;  // where recorded kernels find it
  cudaMalloc(&step, sizeof(int));
  cudaMemsetAsync(step, 0, sizeof(int), stream);
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  difference_kernel<<<1, 1, 0, stream>>>(n, target, x, difference);
  move_kernel<<<1, 1, 0, stream>>>(n, step, rates, difference, x);
  next_kernel<<<1, 1, 0, stream>>>(step);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);

  for (int i = 0; i < steps; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(step);
  cudaFree(difference);
}
