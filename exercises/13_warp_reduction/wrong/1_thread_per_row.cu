// expect: takes 32 sectors|load 37 rows
__global__ void row_sums_kernel(int rows, int columns, const float* x, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[row * columns + i];
  sums[row] = sum;
}

void row_sums(int rows, int columns, const float* x, float* sums) {
  row_sums_kernel<<<(rows + 127) / 128, 128>>>(rows, columns, x, sums);
}
