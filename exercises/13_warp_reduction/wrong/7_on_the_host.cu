// expect: host code (read|wrote) device memory
void row_sums(int rows, int columns, const float* x, float* sums) {
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int i = 0; i < columns; ++i) sum += x[row * columns + i];
    sums[row] = sum;
  }
}
