/// Softmax of rows: a warp turns a row of scores into probabilities.
constexpr unsigned all_lanes = 0xffffffff;

/// The sum over the lanes of a warp, in all of them.
__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(all_lanes, value, offset);
  }
  return value;
}

/// The largest of the values of a warp's lanes, in all of them.
__device__ float largest_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, offset));
  }
  return value;
}

__global__ void softmax_kernel(int rows, int columns, const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* const scores = x + row * columns;
  float largest = -INFINITY;
  for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, scores[i]);
  largest = largest_of_warp(largest);
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += expf(scores[i] - largest);
  sum = sum_of_warp(sum);
  for (int i = lane; i < columns; i += 32) y[row * columns + i] = expf(scores[i] - largest) / sum;
}

void softmax(int rows, int columns, const float* x, float* y) {
  const int rows_of_block = 4;
  softmax_kernel<<<(rows + rows_of_block - 1) / rows_of_block, 32 * rows_of_block>>>(rows, columns,
                                                                                     x, y);
}
