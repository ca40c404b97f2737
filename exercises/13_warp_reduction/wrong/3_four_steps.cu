// expect: results are wrong
/// The sums of the rows of a matrix: a warp adds up a row.
__global__ void row_sums_kernel(int rows, int columns, const float* x, float* sums) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += x[row * columns + i];
  for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) sums[row] = sum;
}

void row_sums(int rows, int columns, const float* x, float* sums) {
  const int rows_of_block = 4;
  row_sums_kernel<<<(rows + rows_of_block - 1) / rows_of_block, 32 * rows_of_block>>>(rows, columns,
                                                                                      x, sums);
}
