// Memory of every kind: managed, with advice and prefetches in the forms of CUDA 12; the host's, mapped or registered;
// that of a stream, from the device's pool or from one of our own; and with a pitch, which is copied in two and three
// dimensions.
#include <cstdint>
#include <memory>
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

const int W = 20, H = 12, D = 6;

__global__ void double_rows(float* x, size_t pitch, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) ((float*)((char*)x + row * pitch))[column] *= 2;
}

// The row of a pitched pointer, as the programming guide shows it.
__global__ void doubled(cudaPitchedPtr devPitchedPtr, cudaExtent extent) {
  char* devPtr = (char*)devPitchedPtr.ptr;
  size_t pitch = devPitchedPtr.pitch;
  size_t slicePitch = pitch * extent.height;
  int z = blockIdx.x, y = threadIdx.x;
  char* slice = devPtr + z * slicePitch;
  float* row = (float*)(slice + y * pitch);
  for (int x = 0; x < (int)(extent.width / sizeof(float)); ++x) row[x] *= 2.0f;
}

void with_pitch() {
  std::vector<float> host(W * H * D), result(W * H, -1);
  for (int i = 0; i < W * H * D; ++i) host[i] = (float)i;

  float *rows, *others;
  size_t pitch, other_pitch;
  OK(cudaMallocPitch(&rows, &pitch, W * sizeof(float), H));
  OK(cudaMallocPitch((void**)&others, &other_pitch, W * sizeof(float), H));
  EXPECT(pitch % 32 == 0 && pitch >= W * sizeof(float));
  OK(cudaMemset2D(others, other_pitch, 0, W * sizeof(float), H));
  OK(cudaMemcpy2D(rows, pitch, host.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
  const dim3 block(16, 16), grid((W + block.x - 1) / block.x, (H + block.y - 1) / block.y);
  double_rows<<<grid, block>>>(rows, pitch, W, H);
  OK(cudaMemcpy2DAsync(others, other_pitch, rows, pitch, (W - 1) * sizeof(float), H, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2D(result.data(), W * sizeof(float), others, other_pitch, W * sizeof(float), H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < W * H; ++i) EXPECT(result[i] == (i % W == W - 1 ? 0 : 2.0f * i));
  // A copy whose rows are wider than the pitch cannot be right.
  EXPECT(cudaMemcpy2D(rows, 64, host.data(), 80, 80, H, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue && cudaGetLastError() == cudaSuccess);

  cudaExtent extent = make_cudaExtent(W * sizeof(float), H, D);
  cudaPitchedPtr device;
  OK(cudaMalloc3D(&device, extent));
  OK(cudaMemset3D(device, 0, extent));
  cudaMemcpy3DParms p = {0};
  p.srcPtr = make_cudaPitchedPtr(host.data(), W * sizeof(float), W, H);
  p.dstPtr = device;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  doubled<<<D, H>>>(device, extent);

  // A box of 4 x 3 x 2 elements from (5, 6, 3) goes to (1, 2, 0) of a cleared volume.
  std::vector<float> box(W * H * D, 0.0f);
  cudaMemcpy3DParms q;
  memset(&q, 0, sizeof(q));
  q.srcPtr = device;
  q.srcPos = make_cudaPos(5 * sizeof(float), 6, 3);
  q.dstPtr = make_cudaPitchedPtr(box.data(), W * sizeof(float), W, H);
  q.dstPos = make_cudaPos(1 * sizeof(float), 2, 0);
  q.extent = make_cudaExtent(4 * sizeof(float), 3, 2);
  q.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&q, 0));
  OK(cudaDeviceSynchronize());
  for (int z = 0; z < D; ++z)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        int inside = x >= 1 && x < 5 && y >= 2 && y < 5 && z < 2;
        EXPECT(box[(z * H + y) * W + x] == (inside ? 2.0f * (((z + 3) * H + (y + 4)) * W + (x + 4)) : 0.0f));
      }
}

int main() {
  with_pitch();
  managed();
  mapped();
  of_a_stream();
}
