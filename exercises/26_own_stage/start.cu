constexpr int inputs = 8;
constexpr int hidden = 16;
constexpr int outputs = 3;

/// A copy on the GPU of numbers that are on the host.
float* to_gpu(const float* numbers, int count) {
  float* copy = nullptr;
  cudaMalloc(&copy, count * sizeof(float));
  cudaMemcpy(copy, numbers, count * sizeof(float), cudaMemcpyHostToDevice);
  return copy;
}

/// Copies numbers back to the host, and frees the copy on the GPU.
void to_host(float* copy, float* numbers, int count) {
  cudaMemcpy(numbers, copy, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(copy);
}

/// Trains an MLP for some steps, with all rows in each.
void train(int rows, int steps, float rate, const float* x, const float* target, float* w1,
           float* b1, float* w2, float* b2) {
  float* const gpu_x = to_gpu(x, rows * inputs);
  float* const gpu_target = to_gpu(target, rows * outputs);
  float* const gpu_w1 = to_gpu(w1, inputs * hidden);
  float* const gpu_b1 = to_gpu(b1, hidden);
  float* const gpu_w2 = to_gpu(w2, hidden * outputs);
  float* const gpu_b2 = to_gpu(b2, outputs);

  for (int step = 0; step < steps; ++step) {
    // Launch your kernels here.
  }

  to_host(gpu_w1, w1, inputs * hidden);
  to_host(gpu_b1, b1, hidden);
  to_host(gpu_w2, w2, hidden * outputs);
  to_host(gpu_b2, b2, outputs);
  cudaFree(gpu_x);
  cudaFree(gpu_target);
}
