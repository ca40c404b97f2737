// cudaMallocAsync from the device's pool and from one of our own.
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
#define CHECK(call) check(call, #call)

class Stream {
 public:
  Stream() { CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
 private:
  cudaStream_t stream_ = nullptr;
};

template <class T>
class AsyncBuffer {
 public:
  AsyncBuffer(std::size_t n, cudaStream_t s) : stream_(s) { CHECK(cudaMallocAsync(&data_, n * sizeof(T), s)); }
  AsyncBuffer(std::size_t n, cudaMemPool_t pool, cudaStream_t s) : stream_(s) {
    CHECK(cudaMallocFromPoolAsync((void**)&data_, n * sizeof(T), pool, s));
  }
  AsyncBuffer(AsyncBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  ~AsyncBuffer() { if (data_) cudaFreeAsync(data_, stream_); }
  T* get() const { return data_; }
 private:
  T* data_ = nullptr;
  cudaStream_t stream_;
};

__global__ void iota(int* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] = i;
}
__global__ void gather(const int* x, int* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[n - 1 - i] * 3;
}

int main() try {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = UINT64_MAX, used = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &properties));

  Stream stream;
  const int n = 1 << 12;
  int result[4];
  {
    AsyncBuffer<int> x(n, stream);
    AsyncBuffer<int> y(n, own, stream);
    AsyncBuffer<int> moved = std::move(y);
    iota<<<16, 64, 0, stream>>>(x.get(), n);
    gather<<<16, 64, 0, stream>>>(x.get(), moved.get(), n);
    CHECK(cudaMemcpyAsync(result, moved.get(), sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  }
  CHECK(cudaStreamSynchronize(stream));
  std::printf("pools: %d, threshold kept: %d, used while in use: %d\n", supported, threshold == UINT64_MAX, used > 0);
  std::printf("%d %d %d %d\n", result[0], result[1], result[2], result[3]);
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(own));
  std::printf("used after: %llu\n", (unsigned long long)used);
  return 0;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 1;
}
