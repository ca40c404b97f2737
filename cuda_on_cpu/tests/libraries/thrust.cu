// Algorithms, iterators and policies of Thrust: the same output on a GPU.
#include <cstdio>
#include <vector>

#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

struct axpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct is_even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct drawn {
  __host__ __device__ float operator()(unsigned n) const {
    thrust::default_random_engine engine(7);
    thrust::uniform_real_distribution<float> uniform(0, 1);
    engine.discard(n);
    return uniform(engine);
  }
};
struct length {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
    return thrust::get<0>(t) * thrust::get<0>(t) + thrust::get<1>(t) * thrust::get<1>(t);
  }
};

__global__ void twice(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
__global__ void sort_rows(int* x, int width) {
  thrust::sort(thrust::seq, x + threadIdx.x * width, x + (threadIdx.x + 1) * width);
}

template <class Vector>
void print(const char* name, const Vector& values) {
  printf("%s:", name);
  for (std::size_t i = 0; i < values.size(); ++i) printf(" %g", static_cast<double>(values[i]));
  printf("\n");
}

int main() {
  const int n = 10;
  thrust::host_vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (7 * i + 3) % n;
  thrust::device_vector<int> d = h;
  twice<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), n);
  thrust::sort(d.begin(), d.end());
  print("sorted", d);
  d[0] = 100;
  d.push_back(-1);
  thrust::sort(thrust::device, d.begin(), d.end(), thrust::greater<int>());
  print("descending", thrust::host_vector<int>(d));
  printf("sum %d, maximum %d, even %d\n", thrust::reduce(d.begin(), d.end()),
         thrust::reduce(d.begin(), d.end(), -1000, thrust::maximum<int>()),
         static_cast<int>(thrust::count_if(d.begin(), d.end(), is_even())));
  printf("the least at %d\n",
         static_cast<int>(thrust::min_element(d.begin(), d.end()) - d.begin()));

  thrust::device_vector<float> x(5), y(5, 1.0f);
  thrust::sequence(x.begin(), x.end(), 1.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), axpy{2});
  print("axpy", y);
  printf("dot %g\n", thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f));

  thrust::device_vector<int> scanned(n), kept(n);
  thrust::counting_iterator<int> first(1);
  thrust::exclusive_scan(first, first + n, scanned.begin());
  print("scan", scanned);
  kept.resize(thrust::copy_if(first, first + n, kept.begin(), is_even()) - kept.begin());
  print("even", kept);
  printf("squares %d\n",
         thrust::transform_reduce(first, first + n, square(), 0, thrust::plus<int>()));
  const auto squares = thrust::make_transform_iterator(first, square());
  printf("squares again %d\n", thrust::reduce(squares, squares + n));

  std::vector<int> host_keys = {1, 3, 2, 3, 1, 2, 3};
  thrust::device_vector<int> keys(host_keys.begin(), host_keys.end()), values(7), sums(7);
  thrust::sequence(values.begin(), values.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  print("keys", keys);
  print("values", values);
  thrust::device_vector<int> groups(7);
  const auto ends =
      thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), groups.begin(), sums.begin());
  groups.erase(ends.first, groups.end());
  sums.erase(ends.second, sums.end());
  print("groups", groups);
  print("sums", sums);
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
  printf("lengths %d\n",
         thrust::transform_reduce(pairs, pairs + 7, length(), 0, thrust::plus<int>()));
  keys.erase(thrust::unique(keys.begin(), keys.end()), keys.end());
  print("unique", keys);

  int *raw, raw_host[n];
  cudaMalloc(&raw, n * sizeof(int));
  cudaMemcpy(raw, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  twice<<<1, 32, 0, stream>>>(raw, n);
  thrust::device_ptr<int> wrapped(raw);
  thrust::sort(thrust::cuda::par.on(stream), wrapped, wrapped + n);
  twice<<<1, 32, 0, stream>>>(raw, n);
  cudaMemcpyAsync(raw_host, raw, sizeof raw_host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  print("raw", std::vector<int>(raw_host, raw_host + n));
  printf("one of them %d\n", static_cast<int>(wrapped[3]));
  cudaMemcpy(raw, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sort_rows<<<1, 2>>>(raw, n / 2);
  thrust::inclusive_scan(thrust::device, raw, raw + n, raw);
  cudaMemcpy(raw_host, raw, sizeof raw_host, cudaMemcpyDeviceToHost);
  print("rows", std::vector<int>(raw_host, raw_host + n));

  thrust::device_ptr<float> random = thrust::device_malloc<float>(4);
  thrust::transform(thrust::counting_iterator<unsigned>(0), thrust::counting_iterator<unsigned>(4),
                    random, drawn());
  for (int i = 0; i < 4; ++i) printf("%.5f ", static_cast<float>(random[i]));
  thrust::device_free(random);
  thrust::complex<float> z(3, 4);
  z *= thrust::complex<float>(0, 1);
  printf("\n|z| %g, z %g %g\n", thrust::abs(z), z.real(), z.imag());
  cudaFree(raw);
  cudaStreamDestroy(stream);
}
