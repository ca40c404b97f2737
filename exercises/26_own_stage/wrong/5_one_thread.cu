// expect: only 1 block of 1 thread
constexpr int inputs = 8;
constexpr int hidden = 16;
constexpr int outputs = 3;

/// h = max(0, x w1 + b1): a thread for each number of h.
__global__ void hidden_kernel(int rows, const float* x, const float* w1, const float* b1,
                              float* h) {
  for (int thread = 0; thread < rows * hidden; ++thread) {
    const int i = thread / hidden;
    const int j = thread % hidden;
    float sum = b1[j];
    for (int k = 0; k < inputs; ++k) sum += x[i * inputs + k] * w1[k * hidden + j];
    h[thread] = sum > 0 ? sum : 0;
  }
}

/// dy = (h w2 + b2 - target) / rows: a thread for each number.
__global__ void output_kernel(int rows, const float* h, const float* w2, const float* b2,
                              const float* target, float* dy) {
  for (int thread = 0; thread < rows * outputs; ++thread) {
    const int i = thread / outputs;
    const int o = thread % outputs;
    float sum = b2[o];
    for (int j = 0; j < hidden; ++j) sum += h[i * hidden + j] * w2[j * outputs + o];
    dy[thread] = (sum - target[thread]) / rows;
  }
}

/// dh = dy w2^T where h > 0: a thread for each number.
__global__ void hidden_gradient_kernel(int rows, const float* dy, const float* w2, const float* h,
                                       float* dh) {
  for (int thread = 0; thread < rows * hidden; ++thread) {
    const int i = thread / hidden;
    const int j = thread % hidden;
    float sum = 0;
    for (int o = 0; o < outputs; ++o) sum += dy[i * outputs + o] * w2[j * outputs + o];
    dh[thread] = h[thread] > 0 ? sum : 0;
  }
}

/// Updates the weights and biases of a layer: a thread for each; the biases are the last row, whose
/// input is 1.
__global__ void update_kernel(int rows, int width, int columns, float rate, const float* input,
                              const float* gradient, float* w, float* b) {
  for (int thread = 0; thread < (width + 1) * columns; ++thread) {
    const int k = thread / columns;
    const int j = thread % columns;
    float sum = 0;
    for (int i = 0; i < rows; ++i) {
      sum += (k < width ? input[i * width + k] : 1) * gradient[i * columns + j];
    }
    if (k < width) {
      w[thread] -= rate * sum;
    } else {
      b[j] -= rate * sum;
    }
  }
}

int blocks_for(int threads) {
  return (threads + 127) / 128;
}

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

  float* h = nullptr;
  float* dy = nullptr;
  float* dh = nullptr;
  cudaMalloc(&h, rows * hidden * sizeof(float));
  cudaMalloc(&dy, rows * outputs * sizeof(float));
  cudaMalloc(&dh, rows * hidden * sizeof(float));

  for (int step = 0; step < steps; ++step) {
    hidden_kernel<<<1, 1>>>(rows, gpu_x, gpu_w1, gpu_b1, h);
    output_kernel<<<1, 1>>>(rows, h, gpu_w2, gpu_b2, gpu_target, dy);
    hidden_gradient_kernel<<<1, 1>>>(rows, dy, gpu_w2, h, dh);
    update_kernel<<<1, 1>>>(rows, hidden, outputs, rate, h, dy, gpu_w2, gpu_b2);
    update_kernel<<<1, 1>>>(rows, inputs, hidden, rate, gpu_x, dh, gpu_w1, gpu_b1);
  }

  to_host(gpu_w1, w1, inputs * hidden);
  to_host(gpu_b1, b1, hidden);
  to_host(gpu_w2, w2, hidden * outputs);
  to_host(gpu_b2, b2, outputs);
  cudaFree(h);
  cudaFree(dy);
  cudaFree(dh);
  cudaFree(gpu_x);
  cudaFree(gpu_target);
}
