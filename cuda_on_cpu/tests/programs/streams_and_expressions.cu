// Configurations that are more than two names: braces, calls, comparisons, shifts, streams of a class.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

struct StreamDeleter { void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); } };
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDeleter>;

Stream make_stream() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  return Stream(stream);
}

template <typename T>
constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }

template <class A, class B> struct Larger { static const int value = sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B); };

__global__ void ramp(int* out, int n, int first) {
  extern __shared__ int buffer[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  buffer[threadIdx.x] = first + i;
  __syncthreads();
  if (i < n) out[i] = buffer[blockDim.x - 1 - threadIdx.x];
}

__global__ void shape(int* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y == 0) {
    out[0] = gridDim.x * 100 + gridDim.y * 10 + gridDim.z;
    out[1] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
  }
}

int main() {
  enum { kCount = 3, kThreads = 32 };
  const int n = 100;
  std::vector<Stream> streams;
  int* data = nullptr;
  cudaMalloc(&data, kCount * n * sizeof(int));
  cudaMemset(data, 0, kCount * n * sizeof(int));
  cudaDeviceSynchronize();
  for (int s = 0; s < kCount; ++s) {
    streams.push_back(make_stream());
    ramp<<<ceil_div<int>(n, kThreads), kThreads, kThreads * sizeof(int), streams[s].get()>>>(data + s * n, n, 1000 * s);
  }
  for (const auto& stream : streams) cudaStreamSynchronize(stream.get());

  int sum = 0, host[kCount * n];
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  for (int value : host) sum += value;

  const size_t wide = 1ull << 1;
  int shapes[8];
  shape<<<{2, 3}, {4, 2, 1}>>>(data);
  shape<<<dim3(wide, 1 << 2 >> 1), dim3{8, std::max(1u, 2u)}>>>(data + 2);
  shape<<<wide > 1 ? 5 : 6, Larger<std::vector<std::vector<int>>, float>::value>>>(data + 4);
  shape<<<wide, Larger<char, Larger<char, int>>::value, 0, 0>>>  // comments >>> may stand here
      (data + 6);
  cudaMemcpy(shapes, data, sizeof(shapes), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d |", host[0], host[n], sum);
  for (int value : shapes) std::printf(" %d", value);
  std::printf(" | %d\n", static_cast<int>(cudaGetLastError()));
  cudaFree(data);
}
