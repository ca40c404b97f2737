// Calls that look like wrong ones: overloads for both sides, constexpr and template functions, names that variables and
// members share with functions, a kernel named like a function of the host.
#include <cstdio>
#include <cstdlib>

constexpr int twice(int x) { return 2 * x; }
template <class T>
__host__ __device__ T half(T x) { return x / 2; }
__host__ __device__ int square(int x) { return x * x; }
inline __device__ int cube(int x) { return x * x * x; }
int limit() { return 10; }

int scale(int x) { return 3 * x; }
__device__ int scale(float x) { return static_cast<int>(4 * x); }

struct Machine {
  __device__ int limit() const { return 5; }
  int scale() const { return 0; }
};

__global__ void compute(int* result, int n);
// Not the kernel: another number of arguments.
int compute(int n) { return n + 1; }

__global__ void compute(int* result, int n) {
  const Machine machine;
  auto rand = [](int x) { return x + 1; };
  result[0] = twice(n) + half(n) + square(n) + cube(n) + scale(1.0F) + machine.limit() + rand(n);
}

__global__ void apply(int* result, int (*function)(int)) { *result = function(*result); }

int main() {
  auto cube = [](int x) { return x - 1; };
  int* result = nullptr;
  cudaMallocManaged(&result, sizeof(int));
  compute<<<1, 1>>>(result, 4);
  cudaDeviceSynchronize();
  std::printf("%d\n", *result);
  const Machine machine;
  std::printf("%d %d %d %d %d %d\n", compute(1), cube(5), scale(2), limit(), machine.scale(), std::rand() >= 0);
}
