// expect: store into y takes 32 sectors
__global__ void transpose_kernel(int rows, int columns, const float* x, float* y) {
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
}

void transpose(int rows, int columns, const float* x, float* y) {
  const dim3 blocks((columns + 31) / 32, (rows + 31) / 32);
  transpose_kernel<<<blocks, dim3(32, 32)>>>(rows, columns, x, y);
}
