// A tile of the matrix passes through shared memory, so that both reading and writing go along
// rows. The 33rd column keeps the 32 threads of a warp from waiting for the same memory bank.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [transpose]
constexpr int tile_size = 32;

template <typename T>
__global__ void transpose_kernel(int rows, int cols, const T* x, T* y) {
  __shared__ T tile[tile_size][tile_size + 1];

  const int col = blockIdx.x * tile_size + threadIdx.x;
  for (int i = threadIdx.y; i < tile_size; i += blockDim.y) {
    const int row = blockIdx.y * tile_size + i;
    if (row < rows && col < cols) tile[i][threadIdx.x] = x[row * cols + col];
  }
  __syncthreads();  // the tile is complete

  const int y_col = blockIdx.y * tile_size + threadIdx.x;
  for (int i = threadIdx.y; i < tile_size; i += blockDim.y) {
    const int y_row = blockIdx.x * tile_size + i;
    if (y_row < cols && y_col < rows) y[y_row * rows + y_col] = tile[threadIdx.x][i];
  }
}
//! [transpose]

template <typename T>
std::vector<T> transpose(const std::vector<T>& x, int rows, int cols) {
  DeviceVector<T> device_x(x);
  DeviceVector<T> device_y(x.size());
  const dim3 grid(blocks_for(cols, tile_size), blocks_for(rows, tile_size));
  const dim3 block(tile_size, 8);
  transpose_kernel<<<grid, block>>>(rows, cols, device_x.data(), device_y.data());
  return device_y.to_host();
}

template std::vector<float> transpose(const std::vector<float>&, int, int);
template std::vector<double> transpose(const std::vector<double>&, int, int);

}  // namespace teaching
