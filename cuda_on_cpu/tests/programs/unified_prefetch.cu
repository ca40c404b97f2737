// Unified memory with advice and prefetches, in the forms of CUDA 12 and 13; a list that host and device share.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <new>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    if (abort) exit(code);
  }
}

class Managed {
 public:
  void* operator new(size_t len) {
    void* ptr;
    gpuErrchk(cudaMallocManaged(&ptr, len));
    gpuErrchk(cudaDeviceSynchronize());
    return ptr;
  }
  void operator delete(void* ptr) {
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaFree(ptr));
  }
};

struct Node : public Managed {
  float value;
  Node* next;
};

__global__ void add(int n, float* x, float* y) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = index; i < n; i += stride) y[i] = x[i] + y[i];
}

__global__ void sum_list(const Node* head, float* sum) {
  *sum = 0;
  for (const Node* node = head; node; node = node->next) *sum += node->value;
}

static cudaError_t prefetch(const void* p, size_t bytes, int device, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  cudaMemLocation where = {};
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device == cudaCpuDeviceId ? 0 : device;
  return cudaMemPrefetchAsync(p, bytes, where, 0, stream);
#else
  return cudaMemPrefetchAsync(p, bytes, device, stream);
#endif
}

int main(void) {
  int N = 1 << 16, device = -1, concurrent = 0;
  float *x, *y, *sum;
  gpuErrchk(cudaMallocManaged(&x, N * sizeof(float)));
  gpuErrchk(cudaMallocManaged(&y, N * sizeof(float), cudaMemAttachGlobal));
  gpuErrchk(cudaMallocManaged((void**)&sum, sizeof(float)));
  for (int i = 0; i < N; i++) { x[i] = 1.0f; y[i] = 2.0f; }

  gpuErrchk(cudaGetDevice(&device));
  gpuErrchk(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
  if (concurrent) {
#if CUDART_VERSION < 13000
    gpuErrchk(cudaMemAdvise(x, N * sizeof(float), cudaMemAdviseSetReadMostly, device));
    gpuErrchk(cudaMemAdvise(y, N * sizeof(float), cudaMemAdviseSetPreferredLocation, device));
    gpuErrchk(cudaMemAdvise(y, N * sizeof(float), cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
#endif
    gpuErrchk(prefetch(x, N * sizeof(float), device, 0));
    gpuErrchk(prefetch(y, N * sizeof(float), device, NULL));
  }
  int blockSize = 256;
  int numBlocks = (N + blockSize - 1) / blockSize;
  add<<<numBlocks, blockSize>>>(N, x, y);
  gpuErrchk(cudaGetLastError());
  if (concurrent) gpuErrchk(prefetch(y, N * sizeof(float), cudaCpuDeviceId, 0));
  gpuErrchk(cudaDeviceSynchronize());
  float maxError = 0.0f;
  for (int i = 0; i < N; i++) maxError = fmax(maxError, fabs(y[i] - 3.0f));
  std::cout << "Max error: " << maxError << std::endl;

  Node* head = NULL;
  for (int i = 1; i <= 10; i++) {
    Node* node = new Node;
    node->value = i;
    node->next = head;
    head = node;
  }
  sum_list<<<1, 1>>>(head, sum);
  gpuErrchk(cudaDeviceSynchronize());
  std::cout << "Sum of the list: " << *sum << std::endl;
  while (head) { Node* next = head->next; delete head; head = next; }

  cudaPointerAttributes attributes;
  gpuErrchk(cudaPointerGetAttributes(&attributes, x));
  std::cout << "managed: " << (attributes.type == cudaMemoryTypeManaged) << std::endl;
  gpuErrchk(cudaFree(x));
  gpuErrchk(cudaFree(y));
  gpuErrchk(cudaFree(sum));
  return 0;
}
