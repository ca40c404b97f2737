// Functions of the runtime as deleters, template arguments and callbacks, with the types that NVIDIA's header gives them.
#include <cstdio>
#include <functional>
#include <memory>
#include <type_traits>

template <cudaError_t (*release)(void*)>
struct Owner {
  explicit Owner(std::size_t bytes) { cudaMalloc(&data, bytes); }
  ~Owner() { release(data); }
  float* data = nullptr;
};

static_assert(std::is_same_v<decltype(&cudaFree), cudaError_t (*)(void*)>);
static_assert(std::is_same_v<decltype(&::cudaFreeHost), cudaError_t (*)(void*)>);

__global__ void squares(float* values) {
  values[threadIdx.x] = static_cast<float>(threadIdx.x * threadIdx.x);
}

int main() {
  float* raw = nullptr;
  cudaMalloc(&raw, 32 * sizeof(float));
  const std::unique_ptr<float, decltype(&cudaFree)> first(raw, cudaFree);
  cudaError_t (*const allocate)(void**, std::size_t) = cudaMalloc;
  void* untyped = nullptr;
  allocate(&untyped, 32 * sizeof(float));
  const std::shared_ptr<float> second(static_cast<float*>(untyped), &::cudaFree);
  const Owner<cudaFree> third(32 * sizeof(float));

  const std::function<cudaError_t(void*, const void*, std::size_t, cudaMemcpyKind)> copy = cudaMemcpy;
  for (float* const data : {first.get(), second.get(), third.data}) {
    squares<<<1, 32>>>(data);
    float last = 0;
    copy(&last, data + 31, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last);
  }
}
