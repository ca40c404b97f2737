// expect: reads shared memory that no thread of the block has written
/// Transposes a matrix, in tiles of 32 x 32 numbers that are turned in shared memory.
constexpr int side = 32;

__global__ void transpose_kernel(int rows, int columns, const float* x, float* y) {
  __shared__ float tile[side][side + 1];  // a column more, so that a column is in 32 banks
  const int row = blockIdx.y * side + threadIdx.y;
  const int column = blockIdx.x * side + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
  __syncthreads();
  const int y_row = blockIdx.x * side + threadIdx.y;
  const int y_column = blockIdx.y * side + threadIdx.x;
  if (row < rows && column < columns) {
    y[y_row * rows + y_column] = tile[threadIdx.x][threadIdx.y];
  }
}

void transpose(int rows, int columns, const float* x, float* y) {
  const dim3 blocks((columns + side - 1) / side, (rows + side - 1) / side);
  transpose_kernel<<<blocks, dim3(side, side)>>>(rows, columns, x, y);
}
