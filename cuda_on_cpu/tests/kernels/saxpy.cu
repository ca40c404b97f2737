// The first kernel: one thread an element. The last block may reach beyond the end, hence the if.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [saxpy kernel]
template <typename T>
__global__ void saxpy_kernel(int n, T a, const T* x, T* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
//! [saxpy kernel]

template <typename T>
std::vector<T> saxpy(T a, const std::vector<T>& x, std::vector<T> y) {
  const int n = static_cast<int>(x.size());
  DeviceVector<T> device_x(x);
  DeviceVector<T> device_y(y);
  //! [saxpy launch]
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  saxpy_kernel<<<blocks, threads>>>(n, a, device_x.data(), device_y.data());
  //! [saxpy launch]
  return device_y.to_host();
}

template std::vector<float> saxpy(float, const std::vector<float>&, std::vector<float>);
template std::vector<double> saxpy(double, const std::vector<double>&, std::vector<double>);

}  // namespace teaching
