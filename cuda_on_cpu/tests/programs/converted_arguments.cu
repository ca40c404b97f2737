// The arguments of a launch become what the kernel takes: from braces, by conversions, by one copy of a class.
#include <algorithm>
#include <cstdio>
using namespace std;  // which has another fill and another distance

struct Point {
  float x, y;
};
struct __builtin_align__(8) Pair {
  int first;
  float second;
};
static_assert(alignof(Pair) == 8, "");

struct View {
  float* data;
};
/// Owns memory and cannot be copied, but converts to what the kernel takes.
struct Buffer {
  Buffer() { cudaMallocManaged(&data, 32 * sizeof(float)); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator View() const { return {data}; }
  float* data = nullptr;
};

/// Counts copies and destructions, all of which are the host's.
struct Counted {
  explicit Counted(int start) : value(start) {}
  Counted(const Counted& other) : value(other.value) { ++copies; }
  ~Counted() { ++destructions; }
  __device__ int next() { return ++value; }
  int value;
  static int copies, destructions;
};
int Counted::copies = 0;
int Counted::destructions = 0;

struct Limits {
  static const int most = 7;
};

__global__ void distance(Point a, Point b, float* result) {
  *result = hypotf(a.x - b.x, a.y - b.y);
}

__global__ void fill(View view, double value, const Pair& pair) {
  view.data[threadIdx.x] = static_cast<float>(value) + pair.second;
}

__global__ void count(Counted counted, int n, int* result) {
  // Each thread has an object of its own.
  if (threadIdx.x < n) result[threadIdx.x] = counted.next();
}

int main() {
  const Buffer buffer;
  distance<<<1, 1, 0, cudaStreamDefault>>>({1, 2}, Point{4, 6}, buffer.data);
  cudaDeviceSynchronize();
  std::printf("%g\n", buffer.data[0]);
  fill<<<1, 32>>>(buffer, 3, {1, 0.5F});
  cudaDeviceSynchronize();
  std::printf("%g\n", buffer.data[31]);

  int* numbers = nullptr;
  cudaMallocManaged(&numbers, 32 * sizeof(int));
  {
    const Counted counted(41);
    count<<<1, 32>>>(counted, Limits::most, numbers);
    cudaDeviceSynchronize();
  }
  std::printf("%d %d, as many copies as destructions: %d\n", numbers[0], numbers[Limits::most - 1],
              Counted::copies + 1 == Counted::destructions);
  std::printf("copied by threads: %d\n", Counted::copies > 3);
  std::printf("%.6f %.6f\n", cyl_bessel_i0f(1.0F), cyl_bessel_i1(-1.0));
}
