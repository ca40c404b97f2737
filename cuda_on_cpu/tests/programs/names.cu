// Names that kernels and functions share: with the standard library, with parameters, variables and members, and with
// functions of the other side. All of these calls are legal.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "expect.h"
using namespace std;

// Copies itself in its own way, so that a kernel gets a bitwise copy.
struct Weight {
  int value;
  Weight(int v) : value(v) {}
  Weight(const Weight& other) : value(other.value) {}
  ~Weight() {}
};

__global__ void fill(int* values, Weight weight) { values[threadIdx.x] = weight.value; }
__global__ void fill_negative(int* values, Weight weight) { values[threadIdx.x] = -weight.value; }
__device__ void swap(int& a, int& b) {
  int t = a;
  a = b;
  b = t;
}
__global__ void reverse(int* values, int n) {
  if (threadIdx.x < n / 2) swap(values[threadIdx.x], values[n - 1 - threadIdx.x]);
}

// unistd.h and math.h have functions of these names.
__global__ void sync(int* values, float n) { values[threadIdx.x] += static_cast<int>(n); }
__global__ void exp2(int* values, int n) { values[threadIdx.x] *= n; }

// The kernel that is passed, and not the one of that name.
void run(void (*fill)(int*, Weight), int* values) {
  fill<<<1, 4>>>(values, Weight(4));
  OK(cudaDeviceSynchronize());
}

constexpr int twice(int x) { return 2 * x; }
template <class T>
__host__ __device__ T half(T x) { return x / 2; }
__host__ __device__ int square(int x) { return x * x; }
inline __device__ int cube(int x) { return x * x * x; }
int limit() { return 10; }
int scale(int x) { return 3 * x; }
__device__ float scale(float x) { return 2 * x; }
float largest(float (*scale)(float), float x) { return max(scale(x), x); }

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
  result[0] = twice(n) + half(n) + square(n) + cube(n) + static_cast<int>(scale(2.0F)) + machine.limit() + rand(n);
}

// A functor as a member, beside a function of the host.
float weigh(float x) { return x; }
template <class F>
struct Layer {
  F weigh;
  __device__ float operator()(float x) const { return weigh(x); }
};
struct Doubled {
  __device__ float operator()(float x) const { return scale(x); }
};
template <class L>
__global__ void apply(L layer, float* x) { *x = layer(*x); }

// Beside max() of the runtime, one for the host; and an operator for a type of the runtime.
float max(const vector<float>& values) { return *max_element(values.begin(), values.end()); }
__device__ float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
__global__ void clamp(float* x, float low) { *x = max((2 * make_float3(0, *x, 0)).y, low); }

int main() {
  vector<int> numbers(4);
  fill(numbers.begin(), numbers.end(), 7);
  int* values = zeros<int>(4);
  int* others = zeros<int>(4);
  run(fill, values);
  EXPECT(values[3] == 4);
  run(fill_negative, values);
  EXPECT(values[3] == -4);
  for (int i = 0; i < 4; i++) others[i] = i;
  swap(values, others);
  reverse<<<1, 4>>>(values, 4);
  reverse(numbers.begin(), numbers.end());
  RESULT(values[0] == 3 && others[0] == -4 && numbers[0] == 7);
  sync<<<1, 4>>>(values, 2.5F);
  exp2<<<1, 4>>>(values, 3);
  RESULT(values[0] == 15);

  compute<<<1, 1>>>(values, 4);
  RESULT(values[0] == 104);
  auto cube = [](int x) { return x - 1; };
  const Machine machine;
  EXPECT(compute(1) == 2 && cube(5) == 4 && scale(2) == 6 && limit() == 10);
  EXPECT(machine.scale() == 0 && rand() >= 0 && weigh(1) == 1);

  float* x = zeros<float>(1);
  *x = -3;
  apply<<<1, 1>>>(Layer<Doubled>{}, x);
  clamp<<<1, 1>>>(x, -5);
  RESULT(*x == -5 && largest(half<float>, 4) == 4 && max({1.0f, 2.0f}) == 2);
}
