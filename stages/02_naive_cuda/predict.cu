/// @file
/// From outputs to classes: one thread per row, as each row has one class.
///
/// Each thread reads its own row, so a warp reads 32 rows at once, `cols` elements apart. With the
/// 10 classes of digits, the rows are so close together that the cache makes up for this.

#include "02_naive_cuda/kernels.hpp"
#include "cuda/launch.cuh"

namespace stagewise::naive_cuda {
namespace {

//! [argmax]
template <typename T>
__global__ void argmax_kernel(Index rows, Index cols, const T* __restrict__ x,
                              std::int32_t* __restrict__ out) {
  const Index i = cuda::index_x();
  if (i >= rows) return;
  Index best = 0;
  for (Index j = 1; j < cols; ++j) {
    if (x[i * cols + j] > x[i * cols + best]) best = j;  // not >=: the lowest wins ties
  }
  out[i] = static_cast<std::int32_t>(best);
}
//! [argmax]

template <typename T>
__global__ void threshold_kernel(Index rows, T cut, const T* __restrict__ x,
                                 std::int32_t* __restrict__ out) {
  const Index i = cuda::index_x();
  if (i < rows) out[i] = x[i] >= cut ? 1 : 0;
}

}  // namespace

template <typename T>
void argmax(cudaStream_t stream, Index rows, Index cols, const T* x, std::int32_t* out) {
  argmax_kernel<<<cuda::grid_for(rows), cuda::threads_per_block, 0, stream>>>(rows, cols, x, out);
  CUDA_CHECK_LAUNCH("argmax");
}

template <typename T>
void threshold(cudaStream_t stream, Index rows, T cut, const T* x, std::int32_t* out) {
  threshold_kernel<<<cuda::grid_for(rows), cuda::threads_per_block, 0, stream>>>(rows, cut, x, out);
  CUDA_CHECK_LAUNCH("threshold");
}

template void argmax(cudaStream_t, Index, Index, const float*, std::int32_t*);
template void argmax(cudaStream_t, Index, Index, const double*, std::int32_t*);
template void threshold(cudaStream_t, Index, float, const float*, std::int32_t*);
template void threshold(cudaStream_t, Index, double, const double*, std::int32_t*);

}  // namespace stagewise::naive_cuda
