/// @file
/// Sums: one thread per result, where "one thread per output element" reaches its limit.
///
/// column_sums(), the gradient of a bias, has one thread per column; neighbouring threads read
/// neighbouring elements of each row, which is coalesced. But a layer of 10 units occupies only 10
/// threads of a GPU that runs 200,000 at once. Stage 03 lets threads add in pairs.

#include "02_naive_cuda/kernels.hpp"
#include "cuda/launch.cuh"

namespace stagewise::naive_cuda {
namespace {

//! [column_sums]
template <typename T>
__global__ void column_sums_kernel(Index rows, Index cols, const T* __restrict__ x,
                                   T* __restrict__ out) {
  const Index column = cuda::index_x();
  if (column >= cols) return;
  T total = 0;
  for (Index row = 0; row < rows; ++row) total += x[row * cols + column];
  out[column] = total;
}
//! [column_sums]

}  // namespace

template <typename T>
void column_sums(cudaStream_t stream, Index rows, Index cols, const T* x, T* out) {
  column_sums_kernel<<<cuda::grid_for(cols), cuda::threads_per_block, 0, stream>>>(rows, cols, x,
                                                                                   out);
  CUDA_CHECK_LAUNCH("column_sums");
}

template void column_sums(cudaStream_t, Index, Index, const float*, float*);
template void column_sums(cudaStream_t, Index, Index, const double*, double*);

}  // namespace stagewise::naive_cuda
