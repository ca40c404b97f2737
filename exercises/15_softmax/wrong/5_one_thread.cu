// expect: For 40 rows of 96 numbers, .* only 1 block of 1 thread; .* 1280 threads
__global__ void softmax_kernel(int rows, int columns, const float* x, float* y) {
  for (int row = 0; row < rows; ++row) {
    const float* const scores = x + row * columns;
    float largest = -INFINITY;
    for (int i = 0; i < columns; ++i) largest = fmaxf(largest, scores[i]);
    float sum = 0;
    for (int i = 0; i < columns; ++i) sum += expf(scores[i] - largest);
    for (int i = 0; i < columns; ++i) y[row * columns + i] = expf(scores[i] - largest) / sum;
  }
}

void softmax(int rows, int columns, const float* x, float* y) {
  softmax_kernel<<<1, 1>>>(rows, columns, x, y);
}
