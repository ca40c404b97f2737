// The 32 threads of a warp hand each other their registers: no shared memory, no barrier. One warp
// adds up one row.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [warp reduction]
template <typename T>
__global__ void warp_reduction_kernel(int rows, int cols, const T* x, T* sums) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // the whole warp: its threads differ in x only

  T sum = 0;
  for (int col = threadIdx.x; col < cols; col += warpSize) sum += x[row * cols + col];

  constexpr unsigned all_threads = 0xffffffff;
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(all_threads, sum, distance);
  }
  if (threadIdx.x == 0) sums[row] = sum;
}
//! [warp reduction]

template <typename T>
std::vector<T> warp_reduction(const std::vector<T>& x, int rows, int cols) {
  DeviceVector<T> device_x(x);
  DeviceVector<T> sums(rows);
  const dim3 block(32, 4);
  warp_reduction_kernel<<<blocks_for(rows, 4), block>>>(rows, cols, device_x.data(), sums.data());
  return sums.to_host();
}

template std::vector<float> warp_reduction(const std::vector<float>&, int, int);
template std::vector<double> warp_reduction(const std::vector<double>&, int, int);

}  // namespace teaching
