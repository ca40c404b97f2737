// Many threads add to the same few numbers. An atomic addition reads, adds and writes as one step;
// two ordinary ones could both read the old value, and one would be lost.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

//! [atomics]
template <typename T>
__global__ void histogram_kernel(int n, const std::int32_t* labels, const T* weights, T* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[labels[i]], weights[i]);
}
//! [atomics]

template <typename T>
std::vector<T> histogram(const std::vector<std::int32_t>& labels, const std::vector<T>& weights,
                         int bins) {
  const int n = static_cast<int>(labels.size());
  const int threads = 96;
  DeviceVector<std::int32_t> device_labels(labels);
  DeviceVector<T> device_weights(weights);
  DeviceVector<T> sums(std::vector<T>(bins, T(0)));
  histogram_kernel<<<blocks_for(n, threads), threads>>>(n, device_labels.data(),
                                                        device_weights.data(), sums.data());
  return sums.to_host();
}

template std::vector<float> histogram(const std::vector<std::int32_t>&, const std::vector<float>&,
                                      int);
template std::vector<double> histogram(const std::vector<std::int32_t>&, const std::vector<double>&,
                                       int);

}  // namespace teaching
