// Names that a kernel shares with functions of the standard library, with parameters and with members.
#include <stdio.h>
#include <algorithm>
#include <vector>
using namespace std;

// Copies itself in its own way, so that a kernel gets a bitwise copy.
struct Weight {
  int value;
  Weight(int v) : value(v) {}
  Weight(const Weight &other) : value(other.value) {}
  ~Weight() {}
};

__global__ void fill(int *values, Weight weight) { values[threadIdx.x] = weight.value; }
__global__ void fill_negative(int *values, Weight weight) { values[threadIdx.x] = -weight.value; }
__device__ void swap(int &a, int &b) {
  int t = a;
  a = b;
  b = t;
}
__global__ void reverse(int *values, int n) {
  if (threadIdx.x < n / 2) swap(values[threadIdx.x], values[n - 1 - threadIdx.x]);
}

// The kernel that is passed, and not the one of that name.
void run(void (*fill)(int *, Weight), int *values) {
  fill<<<1, 4>>>(values, Weight(4));
  cudaDeviceSynchronize();
  printf("%d\n", values[3]);
}

__device__ float scale(float x) { return 2 * x; }
float largest(float (*scale)(float), float x) { return max(scale(x), x); }
float half(float x) { return x / 2; }

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
__global__ void apply(L layer, float *x) { *x = layer(*x); }

// Beside max() of the runtime, one for the host.
float max(const vector<float> &values) { return *max_element(values.begin(), values.end()); }
__global__ void clamp(float *x, float low) { *x = max(*x, low); }

int main() {
  vector<int> numbers(4);
  fill(numbers.begin(), numbers.end(), 7);
  int *values, *others;
  cudaMallocManaged(&values, 4 * sizeof(int));
  cudaMallocManaged(&others, 4 * sizeof(int));
  run(fill, values);
  run(fill_negative, values);
  for (int i = 0; i < 4; i++) others[i] = i;
  swap(values, others);
  reverse<<<1, 4>>>(values, 4);
  reverse(numbers.begin(), numbers.end());
  cudaDeviceSynchronize();
  printf("%d %d %d\n", values[0], others[0], numbers[0]);
  float *x;
  cudaMallocManaged(&x, sizeof(float));
  *x = -3;
  apply<<<1, 1>>>(Layer<Doubled>{}, x);
  clamp<<<1, 1>>>(x, -5);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", *x, largest(half, 4), weigh(1), max({1.0f, 2.0f}));
}
