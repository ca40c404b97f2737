// An array that owns its memory and converts to a pointer, as launches take it; and a launch from a macro.
#include <cstdio>
#include <vector>

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    cudaMalloc(&data_, size_ * sizeof(T));
    cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  operator T*() { return data_; }
  std::vector<T> values() const {
    std::vector<T> result(size_);
    cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

struct Limits {
  static const int most = 7;
};

#define LAUNCH(kernel, n, ...) kernel<<<((n) + 31) / 32, 32>>>(__VA_ARGS__)

__global__ void add(int* to, const int* from, int n, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = min(to[i] + from[i], most);
}
template <typename T>
__global__ void __launch_bounds__(64) scale(T* values, T by) {
  values[threadIdx.x] *= by;
}

int main() {
  DeviceArray<int> a({1, 2, 3, 4}), b({4, 4, 4, 4});
  LAUNCH(add, 4, a, b, 4, Limits::most);
  scale<int><<<1, 4>>>(a, 3);
  for (int value : a.values()) printf("%d ", value);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
