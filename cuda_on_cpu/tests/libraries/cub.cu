// What blocks, warps and whole arrays do by CUB: the same output on a GPU.
#include <cstdio>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <vector>

#if CUB_VERSION < 300000  // names that CUB has had until 2025
using Sum = cub::Sum;
using Max = cub::Max;
using Squares = cub::TransformInputIterator<int, struct square, cub::CountingInputIterator<int>>;
using CountFrom = cub::CountingInputIterator<int>;
#else
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
using Sum = cuda::std::plus<>;
using Max = cuda::maximum<>;
using Squares = thrust::transform_iterator<struct square, thrust::counting_iterator<int>>;
using CountFrom = thrust::counting_iterator<int>;
#endif

struct square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct is_even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct total {  // of the blocks so far
  int before;
  __device__ int operator()(int of_block) {
    const int old = before;
    before += of_block;
    return old;
  }
};

constexpr int threads = 128, items = 4, tile = threads * items;

// A tile is loaded, scanned and stored; a sum and a maximum of it are taken, and all keys sorted.
__global__ void tiles(const int* in, int* scanned, int* sorted, int* results, unsigned* histogram,
                      int n) {
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Reduce = cub::BlockReduce<int, threads, cub::BLOCK_REDUCE_RAKING>;
  using Sort = cub::BlockRadixSort<int, threads, items, int>;
  using Histogram = cub::BlockHistogram<unsigned char, threads, items, 16>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Sort::TempStorage sort;
    typename Histogram::TempStorage histogram;
  } storage;
  __shared__ unsigned bins[16];
  total so_far{1000};
  for (int begin = 0; begin < n; begin += tile) {
    int values[items], sums[items], indices[items];
    unsigned char digits[items];
    Load(storage.load).Load(in + begin, values, n - begin, 0);
    __syncthreads();
    Scan(storage.scan).InclusiveSum(values, sums, so_far);
    __syncthreads();
    Store(storage.store).Store(scanned + begin, sums, n - begin);
    __syncthreads();
    const int sum = Reduce(storage.reduce).Sum(values);
    __syncthreads();
    const int most = Reduce(storage.reduce).Reduce(values[0], Max(), 100);
    __syncthreads();
    for (int i = 0; i < items; ++i) indices[i] = begin + threadIdx.x * items + i;
    for (int i = 0; i < items; ++i) digits[i] = values[i] & 15;
    Histogram(storage.histogram).Histogram(digits, bins);
    __syncthreads();
    Sort(storage.sort).SortDescending(values, indices);
    cub::BlockStore<int, threads, items>().Store(sorted + begin, indices, n - begin);
    if (threadIdx.x == 0) {
      results[2 * (begin / tile)] = sum;
      results[2 * (begin / tile) + 1] = most;
    }
    if (threadIdx.x < 16) histogram[threadIdx.x] += bins[threadIdx.x];
    __syncthreads();
  }
}

struct Moments {  // more than a shuffle's word
  double sum, squares;
  int count;
};
struct Together {
  __device__ Moments operator()(const Moments& a, const Moments& b) const {
    return {a.sum + b.sum, a.squares + b.squares, a.count + b.count};
  }
};
// A block of two dimensions, whose last warp is not full; warps, and parts of warps.
__global__ void planes(const int* in, int* out, Moments* moments) {
  using Reduce = cub::BlockReduce<Moments, 10, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 5>;
  using Scan = cub::BlockScan<int, 10, cub::BLOCK_SCAN_RAKING, 5>;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Scan::TempStorage scan;
  const int i = threadIdx.y * blockDim.x + threadIdx.x, x = in[i];
  const Moments all = Reduce(reduce).Reduce(Moments{double(x), double(x) * x, 1}, Together());
  if (i == 0) *moments = all;
  int before, whole;
  Scan(scan).ExclusiveScan(x, before, 5, Max(), whole);
  out[i] = before + whole;
  if (i >= 32) return;
  __shared__ typename cub::WarpReduce<int, 8>::TempStorage of_eights[4];
  __shared__ typename cub::WarpScan<int>::TempStorage of_warp;
  const int eight = cub::WarpReduce<int, 8>(of_eights[i / 8]).Sum(x);
  if (i % 8 == 0) out[50 + i / 8] = eight;
  int sum, sums;
  cub::WarpScan<int>(of_warp).ExclusiveSum(x, sum, sums);
  out[54 + i] = sum + sums;
}

template <class T>
struct Array {
  T* data = nullptr;
  int size;
  explicit Array(int n) : size(n) { CubDebugExit(cudaMallocManaged(&data, n * sizeof(T))); }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array(const std::vector<T>& values) : Array(int(values.size())) {
    for (int i = 0; i < size; ++i) data[i] = values[i];
  }
  void print(const char* name, int n) const {
    CubDebugExit(cudaDeviceSynchronize());
    printf("%s:", name);
    for (int i = 0; i < n; ++i) printf(" %g", double(data[i]));
    printf("\n");
  }
};

cub::CachingDeviceAllocator allocator(true);
// The two calls of which each of CUB's functions for arrays consists.
template <class Call>
void twice(Call call) {
  void* storage = nullptr;
  size_t bytes = 0;
  CubDebugExit(call(storage, bytes));
  CubDebugExit(allocator.DeviceAllocate(&storage, bytes));
  CubDebugExit(call(storage, bytes));
  CubDebugExit(cudaDeviceSynchronize());
  CubDebugExit(allocator.DeviceFree(storage));
}

__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (7 * i + 3) % 11 - 5;
}

int main() {
  const int n = 1000;
  Array<int> in(n), out(n), other(n), few(16), count(1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<8, 128, 0, stream>>>(in.data, n);
  Array<unsigned> histogram(std::vector<unsigned>(16, 0));
  tiles<<<1, threads, 0, stream>>>(in.data, out.data, other.data, few.data, histogram.data, n);
  out.print("scanned", 8), other.print("sorted", 8), few.print("sums, maxima", 4),
      histogram.print("digits", 16);
  Array<Moments> moments(1);
  planes<<<1, dim3(10, 5)>>>(in.data, out.data, moments.data);
  out.print("of a plane", 86);
  printf("moments: %g %g %d\n", moments.data->sum, moments.data->squares, moments.data->count);

  // In a stream, behind a kernel.
  const auto all = [&](auto call) {
    twice([&](void* s, size_t& b) { return call(s, b, few.data); }), few.print("of all", 1);
  };
  fill<<<8, 128, 0, stream>>>(in.data, n);
  all([&](void* s, size_t& b, int* to) {
    return cub::DeviceReduce::Sum(s, b, in.data, to, n, stream);
  });
  all([&](void* s, size_t& b, int* to) { return cub::DeviceReduce::Min(s, b, in.data, to, n, 0); });
  all([&](void* s, size_t& b, int* to) { return cub::DeviceReduce::Max(s, b, in.data, to, n); });
  all([&](void* s, size_t& b, int* to) {
    return cub::DeviceReduce::Reduce(s, b, in.data, to, n, Max(), 77);
  });
  const Squares squares(CountFrom(1), square());
  all([&](void* s, size_t& b, int* to) { return cub::DeviceReduce::Sum(s, b, squares, to, 10); });
  Array<cub::KeyValuePair<int, int>> pairs(2);
  twice(
      [&](void* s, size_t& b) { return cub::DeviceReduce::ArgMin(s, b, in.data, pairs.data, n); });
  twice([&](void* s, size_t& b) {
    return cub::DeviceReduce::ArgMax(s, b, in.data + 1, pairs.data + 1, n - 1);
  });
  printf("extremes: %d at %d, %d at %d\n", pairs.data[0].value, pairs.data[0].key,
         pairs.data[1].value, pairs.data[1].key);
  twice([&](void* s, size_t& b) {
    return cub::DeviceScan::ExclusiveSum(s, b, in.data, out.data, n);
  });
  out.print("exclusive", 12);
  twice([&](void* s, size_t& b) {
    return cub::DeviceScan::InclusiveScan(s, b, in.data, out.data, Max(), n);
  });
  out.print("running maximum", 12);
  twice([&](void* s, size_t& b) {
    return cub::DeviceScan::ExclusiveScan(s, b, out.data, out.data, Sum(), 100, n, stream);
  });
  twice([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, out.data, n); });
  out.print("in place", 8);

  const std::vector<float> keys = {3, -1, 2.5f, -7, 0, 2.5f, 9, -1};
  Array<float> a(keys), b_(8);
  Array<int> values({0, 1, 2, 3, 4, 5, 6, 7}), moved(8);
  twice([&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortPairs(s, b, a.data, b_.data, values.data, moved.data, 8);
  });
  b_.print("keys", 8), moved.print("values", 8);
  cub::DoubleBuffer<float> buffer(a.data, b_.data);
  twice([&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortKeysDescending(s, b, buffer, 8);
  });
  printf("the greatest %g, the least %g\n", buffer.Current()[0], buffer.Current()[7]);
  twice([&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortKeys(s, b, values.data, moved.data, 8, 0, 2);
  });
  moved.print("by two bits", 8);

  twice([&](void* s, size_t& b) {
    return cub::DeviceSelect::If(s, b, in.data, out.data, count.data, n, is_even());
  });
  out.print("even", 8), count.print("of them", 1);
  twice([&](void* s, size_t& b) {
    return cub::DeviceSelect::Flagged(s, b, CountFrom(0), values.data, out.data, count.data, 8);
  });
  out.print("flagged", count.data[0]);
  Array<int> letters({4, 4, 4, 1, 1, 4, 2, 2}), lengths(8);
  twice([&](void* s, size_t& b) {
    return cub::DeviceSelect::Unique(s, b, letters.data, out.data, count.data, 8);
  });
  out.print("unique", count.data[0]);
  twice([&](void* s, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, letters.data, out.data, lengths.data,
                                              count.data, 8);
  });
  out.print("runs", count.data[0]), lengths.print("lengths", count.data[0]);
  twice([&](void* s, size_t& b) {
    return cub::DeviceReduce::ReduceByKey(s, b, letters.data, out.data, values.data, lengths.data,
                                          count.data, Sum(), 8);
  });
  lengths.print("sums of runs", count.data[0]);
  Array<int> offsets({0, 3, 3, 8});
  twice([&](void* s, size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(s, b, values.data, out.data, 3, offsets.data,
                                           offsets.data + 1);
  });
  out.print("segments", 3);
  twice([&](void* s, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, a.data, few.data, 5, -8.0f, 8.0f, 8);
  });
  few.print("histogram", 4);
  twice([&](void* s, size_t& b) {
    return cub::DeviceHistogram::HistogramRange(s, b, values.data, few.data, 4, offsets.data, 8);
  });
  few.print("of ranges", 3);
  cudaStreamDestroy(stream);
}
