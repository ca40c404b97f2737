// Configurations that are more than two names: braces, calls, comparisons, shifts, streams of a class; and macros
// that hide them, as in code that is also read by an editor without CUDA.
#include <algorithm>
#include <memory>
#include <vector>

#include "expect.h"

struct StreamDeleter { void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); } };
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDeleter>;

Stream make_stream() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
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

#ifdef __INTELLISENSE__
#define KERNEL_ARGS(grid, block)
#else
#define KERNEL_ARGS(grid, block) <<<grid, block>>>
#endif
#define LAUNCH(kernel, grid, block, ...)      \
  do {                                        \
    kernel<<<(grid), (block)>>>(__VA_ARGS__); \
    OK(cudaGetLastError());                   \
  } while (0)
#define TILE 16
#define SHARED_TILE(type, name) __shared__ type name[TILE][TILE + 1]
#define GLOBAL_X (blockIdx.x * TILE + threadIdx.x)

__global__ void transpose(int* out, int width) {
  SHARED_TILE(int, tile);
  tile[threadIdx.y][threadIdx.x] = width * threadIdx.y + GLOBAL_X;
  __syncthreads();
  out[GLOBAL_X * TILE + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}

int main() {
  enum { kCount = 3, kThreads = 32 };
  const int n = 100;
  std::vector<Stream> streams;
  int* data = zeros<int>(kCount * n);
  for (int s = 0; s < kCount; ++s) {
    streams.push_back(make_stream());
    ramp<<<ceil_div<int>(n, kThreads), kThreads, kThreads * sizeof(int), streams[s].get()>>>(data + s * n, n, 1000 * s);
  }
  for (const auto& stream : streams) OK(cudaStreamSynchronize(stream.get()));
  EXPECT(data[0] == 31 && data[n] == 1031 && data[2 * n + 99] == 2000 + 124);

  const size_t wide = 1ull << 1;
  shape<<<{2, 3}, {4, 2, 1}>>>(data);
  shape<<<dim3(wide, 1 << 2 >> 1), dim3{8, std::max(1u, 2u)}>>>(data + 2);
  shape<<<wide > 1 ? 5 : 6, Larger<std::vector<std::vector<int>>, float>::value>>>(data + 4);
  shape<<<wide, Larger<char, Larger<char, int>>::value, 0, 0>>>  // comments >>> may stand here
      (data + 6);
  OK(cudaDeviceSynchronize());
  const int expected[] = {231, 421, 221, 821, 511, 2411, 211, 111};
  for (int i = 0; i < 8; ++i) EXPECT(data[i] == expected[i]);

  LAUNCH(transpose, dim3(1), dim3(TILE, TILE), data, TILE);
  RESULT(data[1] == TILE && data[TILE] == 1);
  shape KERNEL_ARGS(1, dim3(3, 2))(data);
  RESULT(data[0] == 111 && data[1] == 321);
}
