// Reads of what nobody has written. Variant 0 is right; the others make one mistake each, at the
// lines that say so.
#include "device_memory.h"

struct Padded {
  char kind;
  double value;
};

__device__ int table[64];

__global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 2 * x[i];  // 1: unwritten, 2: unwritten
  }
}

__global__ void sums_of_tiles(int variant, int n, const float* x, float* y) {
  __shared__ float part[32];
  __shared__ int count;
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (variant == 3) {
    if (i < n) part[threadIdx.x] = x[i];
  } else {
    part[threadIdx.x] = i < n ? x[i] : 0;
  }
  if (threadIdx.x == 0 && variant != 4) count = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&count, 1);  // 4: unwritten
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = count;
    for (int k = 0; k < 32; ++k) {
      sum += part[k];  // 3: unwritten
    }
    y[blockIdx.x] = sum;
  }
}

__global__ void count(const float* x, int* total) {
  if (x[threadIdx.x] == 0) {
    atomicAdd(total, 1);  // 5: unwritten
  }
}

__global__ void first_of_many(int variant, size_t elements, float* x, float* y) {
  if (variant != 6) x[elements - 1] = 1;
  *y = x[elements - 1];  // 6: unwritten
}

// What lies between the members of an object is never written, and need not be.
__global__ void padded(Padded* x, Padded* y) {
  __shared__ Padded part[32];
  part[threadIdx.x].kind = 1;
  part[threadIdx.x].value = 2;
  x[threadIdx.x].kind = 3;
  x[threadIdx.x].value = 4;
  __syncthreads();
  y[threadIdx.x] = part[31 - threadIdx.x];
  y[threadIdx.x + 32] = x[31 - threadIdx.x];
}

__global__ void other_memory(const float* managed, const float* mapped, float* y) {
  y[threadIdx.x] = managed[threadIdx.x] + mapped[threadIdx.x] + table[threadIdx.x];
}

// Each block has shared memory of its own.
__global__ void fresh(int variant, float* y) {
  __shared__ float part[32];
  if (variant != 7 || blockIdx.x == 0) part[threadIdx.x] = 1;
  __syncthreads();
  if (blockIdx.x == 1) {
    y[threadIdx.x] = part[threadIdx.x];  // 7: unwritten
  }
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 100;
  const size_t elements = (80UL << 20) / sizeof(float);
  float host[n] = {};
  auto* const x = unset<float>(n);
  auto* const y = unset<float>(n);
  auto* const much = unset<float>(elements);
  auto* const total = unset<int>(1);
  float* managed = nullptr;
  float* mapped = nullptr;
  cudaMallocManaged(&managed, n * sizeof(float));
  cudaMallocHost(&mapped, n * sizeof(float));
  const int given = variant == 1 ? 0 : (variant == 2 ? n - 1 : n);
  cudaMemcpy(x, host, given * sizeof(float), cudaMemcpyHostToDevice);
  if (variant != 5) cudaMemset(total, 0, sizeof(int));
  scale<<<2, 64>>>(n, x, y);
  sums_of_tiles<<<4, 32>>>(variant, n, x, y);
  count<<<1, 32>>>(x, total);
  first_of_many<<<1, 1>>>(variant, elements, much, y);
  padded<<<1, 32>>>(unset<Padded>(32), unset<Padded>(64));
  other_memory<<<1, 32>>>(managed, mapped, y);
  fresh<<<2, 32>>>(variant, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
