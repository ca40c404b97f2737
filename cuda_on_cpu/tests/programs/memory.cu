// Memory of every kind: managed, with advice and prefetches in the forms of CUDA 12; the host's, mapped or
// registered; and that of a stream, from the device's pool or from one of our own.
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "expect.h"

class Managed {
 public:
  void* operator new(size_t len) {
    void* ptr;
    OK(cudaMallocManaged(&ptr, len));
    OK(cudaDeviceSynchronize());
    return ptr;
  }
  void operator delete(void* ptr) {
    OK(cudaDeviceSynchronize());
    OK(cudaFree(ptr));
  }
};

struct Node : public Managed {
  float value;
  Node* next;
};

__global__ void sum_list(const Node* head, float* sum) {
  *sum = 0;
  for (const Node* node = head; node; node = node->next) *sum += node->value;
}

template <typename T>
__global__ void add(T* __restrict__ out, const T* __restrict__ a, const T* __restrict__ b, std::size_t n) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}

void managed() {
  const std::size_t n = 10000, bytes = n * sizeof(float);
  int device = -1, concurrent = 0;
  float *x, *y, *sum = zeros<float>(1);
  OK(cudaMallocManaged(&x, bytes));
  OK(cudaMallocManaged(&y, bytes, cudaMemAttachGlobal));
  for (std::size_t i = 0; i < n; i++) x[i] = 1, y[i] = 2;
  OK(cudaGetDevice(&device));
  OK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
  EXPECT(concurrent == 1);
  OK(cudaMemAdvise(x, bytes, cudaMemAdviseSetReadMostly, device));
  OK(cudaMemAdvise(y, bytes, cudaMemAdviseSetPreferredLocation, device));
  OK(cudaMemAdvise(y, bytes, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
  OK(cudaMemPrefetchAsync(x, bytes, device, 0));
  OK(cudaMemPrefetchAsync(y, bytes, device, NULL));
  add<<<8, 128>>>(y, x, y, n);
  OK(cudaMemPrefetchAsync(y, bytes, cudaCpuDeviceId, 0));
  RESULT(y[0] == 3 && y[n - 1] == 3);

  Node* head = NULL;
  for (int i = 1; i <= 10; i++) {
    Node* node = new Node;
    node->value = i;
    node->next = head;
    head = node;
  }
  sum_list<<<1, 1>>>(head, sum);
  RESULT(*sum == 55);
  while (head) {
    Node* next = head->next;
    delete head;
    head = next;
  }
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, x));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
}

struct HostFree { void operator()(void* p) const { cudaFreeHost(p); } };
using Pinned = std::unique_ptr<double[], HostFree>;
Pinned pinned(std::size_t n, unsigned flags) {
  double* p = nullptr;
  OK(cudaHostAlloc(&p, n * sizeof(double), flags));
  return Pinned(p);
}

void mapped() {
  OK(cudaSetDeviceFlags(cudaDeviceMapHost));
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  EXPECT(flags & cudaDeviceMapHost);
  const std::size_t n = 1000, bytes = n * sizeof(double);
  auto a = pinned(n, cudaHostAllocMapped | cudaHostAllocWriteCombined);
  auto b = pinned(n, cudaHostAllocMapped);
  std::vector<double> out(n, -1.0);
  std::iota(a.get(), a.get() + n, 0.0);
  std::iota(b.get(), b.get() + n, 0.5);
  OK(cudaHostRegister(out.data(), bytes, cudaHostRegisterMapped));
  double *d_a, *d_b, *d_out;
  OK(cudaHostGetDevicePointer((void**)&d_a, a.get(), 0));
  OK(cudaHostGetDevicePointer(&d_b, b.get(), 0));
  OK(cudaHostGetDevicePointer(&d_out, out.data(), 0));
  add<<<dim3(2), dim3(128)>>>(d_out, d_a, d_b, n);
  RESULT(out[0] == 0.5 && out[n - 1] == 2.0 * (n - 1) + 0.5);
  OK(cudaHostGetFlags(&flags, b.get()));
  EXPECT(flags & cudaHostAllocMapped);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, a.get() + 3));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == a.get() + 3);
  OK(cudaPointerGetAttributes(&attributes, &flags));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT(cudaHostRegister(out.data(), bytes, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaGetLastError() == cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostUnregister(out.data()));
  EXPECT(cudaHostUnregister(out.data()) == cudaErrorHostMemoryNotRegistered);
}

template <class T>
class AsyncBuffer {
 public:
  AsyncBuffer(std::size_t n, cudaStream_t s) : stream_(s) { OK(cudaMallocAsync(&data_, n * sizeof(T), s)); }
  AsyncBuffer(std::size_t n, cudaMemPool_t pool, cudaStream_t s) : stream_(s) {
    OK(cudaMallocFromPoolAsync((void**)&data_, n * sizeof(T), pool, s));
  }
  AsyncBuffer(AsyncBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  ~AsyncBuffer() { if (data_) cudaFreeAsync(data_, stream_); }
  T* get() const { return data_; }
 private:
  T* data_ = nullptr;
  cudaStream_t stream_;
};

void of_a_stream() {
  int supported = 0;
  OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaMemPool_t pool, own;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = UINT64_MAX, used = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == UINT64_MAX);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  OK(cudaMemPoolCreate(&own, &properties));

  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int n = 1 << 10;
  int result[n] = {};
  {
    AsyncBuffer<int> x(n, stream);
    AsyncBuffer<int> y(n, own, stream);
    AsyncBuffer<int> moved = std::move(y);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, x.get()));
    EXPECT(attributes.type == cudaMemoryTypeDevice);
    OK(cudaMemsetAsync(x.get(), 1, n * sizeof(int), stream));
    add<<<16, 64, 0, stream>>>(moved.get(), x.get(), x.get(), n);
    OK(cudaMemcpyAsync(result, moved.get(), sizeof result, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  }
  EXPECT(used > 0 && result[n - 1] == 0x02020202);
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMemPoolDestroy(own));
  OK(cudaStreamDestroy(stream));
}

int main() {
  managed();
  mapped();
  of_a_stream();
}
