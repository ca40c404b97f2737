// Indices too large and too small, by one, and reads of what nobody has written. Variant 0 is
// right; the others make one mistake each, at the lines that say so.
#include "device_memory.h"

constexpr int n = 1001;

__global__ void copy(int variant, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int from = variant == 1 ? i + 1 : (variant == 3 ? i - 1 : i);
  const float value = x[from];  // 1: beyond, 3: beyond
  const int to = variant == 2 ? i + 1 : (variant == 4 ? i - 1 : i);
  y[to] = value;  // 2: beyond, 4: beyond
}

__global__ void in_shared(int variant, float* y) {
  __shared__ float first[16];
  __shared__ float second[16];
  extern __shared__ float dynamic[];
  const int t = threadIdx.x;
  first[variant == 5 ? t + 1 : t] = 1;  // 5: beyond
  second[t] = 2;
  dynamic[variant == 6 ? t + 1 : t] = 3;  // 6: beyond
  __syncthreads();
  y[t] = first[variant == 7 ? t + 1 : t] +   // 7: beyond
         second[variant == 8 ? t - 1 : t] +  // 8: beyond
         dynamic[t];
}

__global__ void bytes(int variant, const char* x, char* y) {
  const int i = threadIdx.x + (variant == 9 ? 1 : 0);
  y[threadIdx.x] = x[i];  // 9: beyond
}

__global__ void vectors(int variant, const float* x, float4* y) {
  const int from = variant == 10 ? 4 * threadIdx.x + 1000 : 4 * threadIdx.x;
  y[threadIdx.x] = *reinterpret_cast<const float4*>(x + from);  // 10: beyond
}

__global__ void unaligned(int variant, const float* x, float2* y) {
  __shared__ float part[34];
  part[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 2) part[threadIdx.x + 32] = 0;
  __syncthreads();
  const float* const in_x = x + 2 * threadIdx.x + (variant == 11 ? 1 : 0);
  const float* const in_part = part + threadIdx.x / 2 * 2 + (variant == 12 ? 1 : 0);
  const float value = reinterpret_cast<const float2*>(in_x)->y;     // 11: misaligned
  const float other = reinterpret_cast<const float2*>(in_part)->y;  // 12: misaligned
  y[threadIdx.x] = {value, other};
}

// More than is filled with NaNs.
__global__ void large(int variant, size_t elements, float* x) {
  x[elements - (variant == 13 ? 0 : 1)] = 1;  // 13: beyond
}

struct Padded {
  char kind;
  double value;
};

__device__ int table[64];

__global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 2 * x[i];  // 14: unwritten, 15: unwritten
  }
}

__global__ void sums_of_tiles(int variant, int n, const float* x, float* y) {
  __shared__ float part[32];
  __shared__ int count;
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (variant == 16) {
    if (i < n) part[threadIdx.x] = x[i];
  } else {
    part[threadIdx.x] = i < n ? x[i] : 0;
  }
  if (threadIdx.x == 0 && variant != 17) count = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&count, 1);  // 17: unwritten
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = count;
    for (int k = 0; k < 32; ++k) {
      sum += part[k];  // 16: unwritten
    }
    y[blockIdx.x] = sum;
  }
}

__global__ void count(const float* x, int* total) {
  if (x[threadIdx.x] == 0) {
    atomicAdd(total, 1);  // 18: unwritten
  }
}

__global__ void first_of_many(int variant, size_t elements, float* x, float* y) {
  if (variant != 19) x[elements - 1] = 1;
  *y = x[elements - 1];  // 19: unwritten
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
  if (variant != 20 || blockIdx.x == 0) part[threadIdx.x] = 1;
  __syncthreads();
  if (blockIdx.x == 1) {
    y[threadIdx.x] = part[threadIdx.x];  // 20: unwritten
  }
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const size_t elements = (80UL << 20) / sizeof(float) + 3;
  auto* const x = zeros<float>(n);
  auto* const y = unset<float>(n);
  auto* const much = unset<float>(elements);
  auto* const text = zeros<char>(33);
  copy<<<8, 128>>>(variant, x, y);
  in_shared<<<1, 16, 16 * sizeof(float)>>>(variant, y);
  bytes<<<1, 33>>>(variant, text, reinterpret_cast<char*>(y));
  vectors<<<1, 4>>>(variant, x, reinterpret_cast<float4*>(y));
  unaligned<<<1, 32>>>(variant, x, reinterpret_cast<float2*>(y));

  const int few = 100;
  float host[few] = {};
  auto* const numbers = unset<float>(few);
  auto* const total = unset<int>(1);
  float* managed = nullptr;
  float* mapped = nullptr;
  cudaMallocManaged(&managed, few * sizeof(float));
  cudaMallocHost(&mapped, few * sizeof(float));
  const int given = variant == 14 ? 0 : (variant == 15 ? few - 1 : few);
  cudaMemcpy(numbers, host, given * sizeof(float), cudaMemcpyHostToDevice);
  if (variant != 18) cudaMemset(total, 0, sizeof(int));
  scale<<<2, 64>>>(few, numbers, y);
  sums_of_tiles<<<4, 32>>>(variant, few, numbers, y);
  count<<<1, 32>>>(numbers, total);
  first_of_many<<<1, 1>>>(variant, elements, much, y);
  large<<<1, 1>>>(variant, elements, much);
  padded<<<1, 32>>>(unset<Padded>(32), unset<Padded>(64));
  other_memory<<<1, 32>>>(managed, mapped, y);
  fresh<<<2, 32>>>(variant, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
