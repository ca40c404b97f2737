// Work within a stream is done in order; between streams there is no order unless an event makes
// one.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

template <typename T>
__global__ void add_one_kernel(int n, const T* x, T* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}

template <typename T>
__global__ void double_kernel(int n, const T* x, T* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

template <typename T>
std::vector<T> two_streams(const std::vector<T>& x) {
  const int n = static_cast<int>(x.size());
  const int threads = 32;
  const int blocks = blocks_for(n, threads);
  DeviceVector<T> device_x(x);
  DeviceVector<T> device_y(x.size());
  DeviceVector<T> device_z(x.size());
  check(cudaDeviceSynchronize());  // the copy to x may be on its way, and these streams do not wait
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t added = nullptr;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));

  //! [two streams]
  add_one_kernel<<<blocks, threads, 0, first>>>(n, device_x.data(), device_y.data());
  check(cudaEventRecord(added, first));
  check(cudaStreamWaitEvent(second, added, 0));  // the second stream waits, the host does not
  double_kernel<<<blocks, threads, 0, second>>>(n, device_y.data(), device_z.data());
  check(cudaStreamSynchronize(second));  // or the copy could come too early
  const std::vector<T> result = device_z.to_host();
  //! [two streams]

  check(cudaEventDestroy(added));
  check(cudaStreamDestroy(second));
  check(cudaStreamDestroy(first));
  return result;
}

template std::vector<float> two_streams(const std::vector<float>&);
template std::vector<double> two_streams(const std::vector<double>&);

}  // namespace teaching
