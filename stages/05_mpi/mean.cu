/// @file
/// From a sum over the ranks to their mean: each element divided by their number.
///
/// MPI adds; it does not divide. The division is here, on the device, where the sum has come to
/// rest, instead of on the host before it travels: dividing first would round N times.
///
/// Work: n elements read and written once.

#include "05_mpi/mean.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::mpi {
namespace {

//! [divide]
template <typename T>
__global__ void divide_kernel(Index n, T count, T* x) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] /= count;
}
//! [divide]

}  // namespace

template <typename T>
void divide(cudaStream_t stream, Index n, T count, T* x) {
  if (n == 0) return;
  divide_kernel<<<static_cast<unsigned>(cuda::pieces(n, cuda::threads_per_block)),
                  cuda::threads_per_block, 0, stream>>>(n, count, x);
  CUDA_CHECK_LAUNCH("divide");
}

template void divide(cudaStream_t, Index, float, float*);
template void divide(cudaStream_t, Index, double, double*);

}  // namespace stagewise::mpi
