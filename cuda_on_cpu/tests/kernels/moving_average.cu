// Each element is wanted by several threads, so that a block fetches what its threads want, and
// `radius` elements more at either end, once. How much that is depends on the radius: the launch
// says how many bytes of shared memory a block has.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [dynamic shared memory]
template <typename T>
__global__ void moving_average_kernel(int n, int radius, const T* x, T* means) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const window = reinterpret_cast<T*>(bytes);  // one name, one type: T differs between kernels

  const int first = static_cast<int>(blockIdx.x * blockDim.x) - radius;
  const int size = blockDim.x + 2 * radius;
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const bool is_inside = first + i >= 0 && first + i < n;
    window[i] = is_inside ? x[first + i] : T(0);
  }
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T sum = 0;
  for (int j = 0; j <= 2 * radius; ++j) sum += window[threadIdx.x + j];
  means[i] = sum / static_cast<T>(min(i + radius, n - 1) - max(i - radius, 0) + 1);
}
//! [dynamic shared memory]

template <typename T>
std::vector<T> moving_average(const std::vector<T>& x, int radius) {
  const int n = static_cast<int>(x.size());
  const int threads = 64;
  DeviceVector<T> device_x(x);
  DeviceVector<T> means(x.size());
  //! [dynamic shared memory launch]
  const std::size_t bytes = (threads + 2 * radius) * sizeof(T);
  moving_average_kernel<<<blocks_for(n, threads), threads, bytes>>>(n, radius, device_x.data(),
                                                                    means.data());
  //! [dynamic shared memory launch]
  return means.to_host();
}

template std::vector<float> moving_average(const std::vector<float>&, int);
template std::vector<double> moving_average(const std::vector<double>&, int);

}  // namespace teaching
