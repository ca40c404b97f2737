// A cooperative launch promises that all its blocks run at the same time, so that they may wait for
// each other: here the first block adds up what all blocks left, without a second launch.

#include <algorithm>

#include <cooperative_groups.h>

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [cooperative sum]
template <typename T>
__global__ void cooperative_sum_kernel(int n, const T* x, T* partial, T* sum) {
  const int threads = gridDim.x * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  T mine = 0;
  for (int i = thread; i < n; i += threads) mine += x[i];
  partial[thread] = mine;

  cooperative_groups::this_grid().sync();  // all blocks have left their sums

  if (thread != 0) return;
  T total = 0;
  for (int i = 0; i < threads; ++i) total += partial[i];
  *sum = total;
}
//! [cooperative sum]

template <typename T>
T cooperative_sum(const std::vector<T>& x) {
  int n = static_cast<int>(x.size());
  const int threads = 32;
  const int blocks = std::clamp(n / threads, 1, 4);
  DeviceVector<T> device_x(x);
  DeviceVector<T> partial(blocks * threads);
  DeviceVector<T> sum(1);
  //! [cooperative launch]
  const T* x_data = device_x.data();
  T* partial_data = partial.data();
  T* sum_data = sum.data();
  void* arguments[] = {&n, &x_data, &partial_data, &sum_data};
  check(cudaLaunchCooperativeKernel(cooperative_sum_kernel<T>, dim3(blocks), dim3(threads),
                                    arguments, 0, nullptr));
  //! [cooperative launch]
  return sum.to_host().front();
}

template float cooperative_sum(const std::vector<float>&);
template double cooperative_sum(const std::vector<double>&);

}  // namespace teaching
