// Mapped memory: the kernel works on the host's buffers. Once allocated, once registered.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

struct Cuda {
  const char* file; int line;
  void operator=(cudaError_t e) const {
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "%s(%d): %s\n", file, line, cudaGetErrorString(e));
    std::exit(EXIT_FAILURE);
  }
};
#define CUDA Cuda{__FILE__, __LINE__} =

template <typename T>
__global__ void add(T* __restrict__ out, const T* __restrict__ a, const T* __restrict__ b, std::size_t n) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}

struct HostFree { void operator()(void* p) const { cudaFreeHost(p); } };
template <typename T>
using Pinned = std::unique_ptr<T[], HostFree>;

template <typename T>
Pinned<T> pinned(std::size_t n, unsigned flags) {
  T* p = nullptr;
  CUDA cudaHostAlloc(&p, n * sizeof(T), flags);
  return Pinned<T>(p);
}

int main() {
  CUDA cudaSetDeviceFlags(cudaDeviceMapHost);
  unsigned deviceFlags = 0;
  CUDA cudaGetDeviceFlags(&deviceFlags);
  std::printf("mapping: %s\n", deviceFlags & cudaDeviceMapHost ? "on" : "off");

  const std::size_t n = 10000;
  auto a = pinned<double>(n, cudaHostAllocMapped | cudaHostAllocWriteCombined);
  auto b = pinned<double>(n, cudaHostAllocMapped);
  std::vector<double> out(n, -1.0);
  std::iota(a.get(), a.get() + n, 0.0);
  std::iota(b.get(), b.get() + n, 0.5);

  CUDA cudaHostRegister(out.data(), n * sizeof(double), cudaHostRegisterMapped);
  double *d_a, *d_b, *d_out;
  CUDA cudaHostGetDevicePointer((void**)&d_a, a.get(), 0);
  CUDA cudaHostGetDevicePointer(&d_b, b.get(), 0);
  CUDA cudaHostGetDevicePointer(&d_out, out.data(), 0);
  add<<<dim3(8), dim3(128)>>>(d_out, d_a, d_b, n);
  CUDA cudaGetLastError();
  CUDA cudaDeviceSynchronize();

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += out[i] != 2.0 * i + 0.5;
  unsigned flags = 0;
  CUDA cudaHostGetFlags(&flags, b.get());
  cudaPointerAttributes attributes;
  CUDA cudaPointerGetAttributes(&attributes, a.get() + 3);
  std::printf("wrong: %zu, mapped: %d, host memory: %d, same pointer: %d\n", wrong,
              (flags & cudaHostAllocMapped) != 0, attributes.type == cudaMemoryTypeHost,
              attributes.hostPointer == a.get() + 3);
  std::printf("registered twice: %s\n",
              cudaGetErrorName(cudaHostRegister(out.data(), n * sizeof(double), cudaHostRegisterDefault)));
  cudaGetLastError();
  CUDA cudaHostUnregister(out.data());
  std::printf("unregistered twice: %s\n", cudaGetErrorName(cudaHostUnregister(out.data())));
  return 0;
}
