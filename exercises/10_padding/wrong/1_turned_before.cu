// expect: store into shared memory takes 32 cycles
/// Transposes a matrix, in tiles of 32 x 32 numbers that are turned in shared memory.
constexpr int side = 32;

__global__ void transpose_kernel(int rows, int columns, const float* x, float* y) {
  __shared__ float tile[side][side];
  const int row = blockIdx.y * side + threadIdx.y;
  const int column = blockIdx.x * side + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.x][threadIdx.y] = x[row * columns + column];
  __syncthreads();
  const int y_row = blockIdx.x * side + threadIdx.y;
  const int y_column = blockIdx.y * side + threadIdx.x;
  if (y_row < columns && y_column < rows) {
    y[y_row * rows + y_column] = tile[threadIdx.y][threadIdx.x];
  }
}

void transpose(int rows, int columns, const float* x, float* y) {
  const dim3 blocks((columns + side - 1) / side, (rows + side - 1) / side);
  transpose_kernel<<<blocks, dim3(side, side)>>>(rows, columns, x, y);
}
