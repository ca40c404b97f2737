/// @file
/// The memory of a GPU for the teaching kernels. The stages have more of it in common/cuda/.
#pragma once

#include <stdexcept>
#include <vector>

#include <cuda_runtime.h>

namespace teaching {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// An array on the device.
template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)));
  }

  explicit DeviceVector(const std::vector<T>& values) : DeviceVector(values.size()) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }

  ~DeviceVector() { cudaFree(data_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  T* data() { return data_; }

  /// Waits for the kernels that came before.
  std::vector<T> to_host() const {
    check(cudaGetLastError());
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Enough blocks of `threads` threads for n elements.
inline int blocks_for(int n, int threads) {
  return (n + threads - 1) / threads;
}

}  // namespace teaching
