// The arguments of a launch become what the kernel takes: from braces, by conversions, by one copy of a class, or by a
// reference to what is managed, in launches as an editor for Windows formats them.
#include <algorithm>
#include <vector>

#include "expect.h"
using namespace std;  // which has another fill and another distance

struct Point {
  float x, y;
};
struct __builtin_align__(8) Pair {
  int first;
  float second;
};
static_assert(alignof(Pair) == 8, "");

/// Owns memory and cannot be copied, but converts to what kernels take.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const vector<T>& values) : size_(values.size()) {
    OK(cudaMalloc(&data_, size_ * sizeof(T)));
    OK(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  operator T*() const { return data_; }
  vector<T> values() const {
    vector<T> result(size_);
    OK(cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

struct View {
  View(const DeviceArray<float>& array) : data(array) {}
  float* data;
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

__global__ void distance(Point a, Point b, float* result) { *result = hypotf(a.x - b.x, a.y - b.y); }
__global__ void fill(View view, double value, Pair pair) {
  view.data[threadIdx.x] = static_cast<float>(value) + pair.second;
}
// Each thread has an object of its own.
__global__ void count(Counted counted, int n, int* result) {
  if (threadIdx.x < n) result[threadIdx.x] = counted.next();
}
__managed__ const Counted* seen[4];
__global__ void look(const Counted& object, int at) { seen[at] = &object; }
template <typename T>
__global__ void lookAtAny(T const &object, int at, const int &/*temporary*/) { // which it may not read
  seen[at] = &object;
}
__global__ void add(int* to, const int* from, int n, int most) {
  if (threadIdx.x < n) to[threadIdx.x] = min(to[threadIdx.x] + from[threadIdx.x], most);
}
template <typename T>
__global__ void __launch_bounds__(64) scale(T* values, T by) {
  values[threadIdx.x] *= by;
}

struct Statistics {
  int visits;
  long long sum;
};
__device__ __managed__ int threads_seen = 0;
__managed__ int bins[3];
__managed__ int increment = 2;
__managed__ Statistics statistics;

__global__ void countThreads(int &counter) { atomicAdd(&counter, 1); }
template <typename T, int N>
__global__ void fillBins(T (&into)[N], const T& step, Statistics& seen)
{
    atomicAdd(&into[threadIdx.x % N], step);
    atomicAdd((unsigned long long *)&seen.sum, (unsigned long long)threadIdx.x);
    if (threadIdx.x == 0) seen.visits++;
}
namespace tools {
template <class T> __global__ void twice(T& value) { value *= 2; }
}

int main() {
  const DeviceArray<float> buffer(vector<float>(32, 0));
  distance<<<1, 1, 0, cudaStreamDefault>>>({1, 2}, Point{4, 6}, buffer);
  EXPECT(buffer.values()[0] == 5);
  fill<<<1, 32>>>(buffer, 3, {1, 0.5F});
  EXPECT(buffer.values()[31] == 3.5);

  int* numbers = zeros<int>(32);
  {
    const Counted counted(41);
    count<<<1, 32>>>(counted, Limits::most, numbers);
    OK(cudaDeviceSynchronize());
  }
  EXPECT(numbers[0] == 42 && numbers[Limits::most - 1] == 42);
  EXPECT(Counted::copies + 1 == Counted::destructions && Counted::copies <= 3);

  Counted* object;
  OK(cudaMallocManaged(&object, sizeof(Counted)));
  new (object) Counted(3);
  Counted::copies = Counted::destructions = 0;
  look<<<1, 1>>>(*object, 0);
  lookAtAny<<<1, 1>>>(*object, 1, 5);
  void (*pointer)(const Counted&, int) = look;
  (*pointer)<<<1, 1>>>(*object, 2);
  int last = 3;
  void* pointers[] = {&object, &last};
  OK(cudaLaunchKernel((void*)look, dim3(1), dim3(1), pointers));
  OK(cudaDeviceSynchronize());
  EXPECT(Counted::copies == 0 && Counted::destructions == 0);
  EXPECT(count_if(seen, seen + 4, [&](const Counted* one) { return one == object; }) == 4);

  DeviceArray<int> a({1, 2, 3, 4}), b({4, 4, 4, 4});
  add<<<1, 32>>>(a, b, 4, Limits::most);
  scale<int><<<1, 4>>>(a, 3);
  EXPECT(a.values() == vector<int>{15, 18, 21, 21});

  dim3 threads(8, 4);
  countThreads << <2, threads >> > (threads_seen);
  fillBins << < 1, 12 >> >(bins, increment, statistics);
  tools::twice<int> << <dim3(1), 1, 0, 0>> > (bins[1]);
  RESULT(threads_seen == 64 && bins[0] == 8 && bins[1] == 16 && bins[2] == 8);
  EXPECT(statistics.visits == 1 && statistics.sum == 66 && (1 << 3) == 8);
}
