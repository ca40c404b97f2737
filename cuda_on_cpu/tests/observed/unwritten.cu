// Reads of what nobody has written. Variant 0 is right; the others make one mistake each, at the
// lines that say so.
#include <cstdlib>

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

__global__ void fill(int n, float* x) {
  if (threadIdx.x < n) x[threadIdx.x] = 1;
}
__global__ void use(float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // 3: unwritten
}

__global__ void sums_of_tiles(int variant, int n, const float* x, float* y) {
  __shared__ float part[32];
  __shared__ int count;
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (variant == 4) {
    if (i < n) part[threadIdx.x] = x[i];
  } else {
    part[threadIdx.x] = i < n ? x[i] : 0;
  }
  if (threadIdx.x == 0 && variant != 5) count = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&count, 1);  // 5: unwritten
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = count;
    for (int k = 0; k < 32; ++k) {
      sum += part[k];  // 4: unwritten
    }
    y[blockIdx.x] = sum;
  }
}

__global__ void count(const float* x, int* total) {
  if (x[threadIdx.x] == 0) {
    atomicAdd(total, 1);  // 6: unwritten
  }
}

__global__ void first_of_many(int variant, size_t elements, float* x, float* y) {
  if (variant != 7) x[elements - 1] = 1;
  *y = x[elements - 1];  // 7: unwritten
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
  if (variant != 8 || blockIdx.x == 0) part[threadIdx.x] = 1;
  __syncthreads();
  if (blockIdx.x == 1) {
    y[threadIdx.x] = part[threadIdx.x];  // 8: unwritten
  }
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  const int n = 100;
  const size_t elements = (80UL << 20) / sizeof(float);
  float host[n] = {};
  float *x, *y, *much, *managed, *mapped;
  int* total;
  Padded *from, *to;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&much, elements * sizeof(float));
  cudaMalloc(&total, sizeof(int));
  cudaMalloc(&from, 32 * sizeof(Padded));
  cudaMalloc(&to, 64 * sizeof(Padded));
  cudaMallocManaged(&managed, n * sizeof(float));
  cudaMallocHost(&mapped, n * sizeof(float));
  if (variant == 2) {
    cudaMemcpy(x, host, (n - 1) * sizeof(float), cudaMemcpyHostToDevice);
  } else if (variant != 1) {
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
  }
  if (variant != 6) cudaMemset(total, 0, sizeof(int));
  scale<<<2, 64>>>(n, x, y);
  fill<<<1, 64>>>(variant == 3 ? 31 : 32, much);
  use<<<1, 32>>>(much, y);
  sums_of_tiles<<<4, 32>>>(variant, n, x, y);
  count<<<1, 32>>>(x, total);
  first_of_many<<<1, 1>>>(variant, elements, much, y);
  padded<<<1, 32>>>(from, to);
  other_memory<<<1, 32>>>(managed, mapped, y);
  fresh<<<2, 32>>>(variant, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
