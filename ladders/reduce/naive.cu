/// @file
/// A sum in the manner of stage 02: one output, and so one thread. Correct, in the order of a loop
/// on the CPU, but slower. The rungs of the ladder let threads add in pairs.

#include "cuda/check.hpp"
#include "ladders/reduce/reduce.hpp"

namespace stagewise::naive_cuda {
namespace {

//! [sum]
template <typename T>
__global__ void sum_kernel(Index n, const T* __restrict__ x, T* __restrict__ out) {
  double total = 0;
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  out[0] = static_cast<T>(total);
}
//! [sum]

}  // namespace

template <typename T>
void sum(cudaStream_t stream, Index n, const T* x, T* out) {
  sum_kernel<<<1, 1, 0, stream>>>(n, x, out);
  CUDA_CHECK_LAUNCH("sum");
}

template void sum(cudaStream_t, Index, const float*, float*);
template void sum(cudaStream_t, Index, const double*, double*);

}  // namespace stagewise::naive_cuda
