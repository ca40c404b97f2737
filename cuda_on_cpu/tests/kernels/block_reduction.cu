// The threads of a block add up their elements in a tree: half of them add the other half's values
// to their own, then a quarter, and so on. Each block leaves one number.

#include <numeric>

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [block reduction]
template <typename T, int threads>
__global__ void block_reduction_kernel(int n, const T* x, T* sums) {
  __shared__ T partial[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();

  for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) partial[threadIdx.x] += partial[threadIdx.x + distance];
    __syncthreads();  // outside of the if: all threads of the block must come here
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
//! [block reduction]

template <typename T>
T block_reduction(const std::vector<T>& x) {
  constexpr int threads = 128;
  const int n = static_cast<int>(x.size());
  const int blocks = blocks_for(n, threads);
  DeviceVector<T> device_x(x);
  DeviceVector<T> sums(blocks);
  block_reduction_kernel<T, threads><<<blocks, threads>>>(n, device_x.data(), sums.data());
  const std::vector<T> host_sums = sums.to_host();
  return std::accumulate(host_sums.begin(), host_sums.end(), T(0));
}

template float block_reduction(const std::vector<float>&);
template double block_reduction(const std::vector<double>&);

}  // namespace teaching
