// Warp-aggregated atomics in the manner of a blog post: the lanes that keep their element draw
// places together, with one atomic for all of them.
#include <cooperative_groups.h>
#include <stdio.h>
#include <algorithm>
#include <vector>
namespace cg = cooperative_groups;

__device__ int atomicAggInc(int *ctr) {
  cg::coalesced_group g = cg::coalesced_threads();
  int first;
  if (g.thread_rank() == 0) first = atomicAdd(ctr, g.size());
  return g.shfl(first, 0) + g.thread_rank();
}

__global__ void filter(int *evens, int *odds, int *counts, const int *src, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (src[i] % 2 == 0)
    evens[atomicAggInc(&counts[0])] = src[i];
  else if (src[i] % 3 == 0)
    odds[atomicAggInc(&counts[1])] = src[i];
}

// The same by hand, with masks.
__global__ void count_by_mask(int *count, int *leaders, const int *src, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n && src[i] % 5 == 0) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1;
    if ((threadIdx.x & 31) == leader) {
      atomicAdd(count, __popc(active));
      atomicAdd(leaders, 1);
    }
  }
}

// Histogram: the lanes with the same key add once.
__global__ void histogram(unsigned *bins, const int *src, int n) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    int key = i < n ? src[i] % 7 : -1;
    auto same = cg::labeled_partition(warp, key);
    if (key >= 0 && same.thread_rank() == 0) atomicAdd(&bins[key], same.size());
    auto side = cg::binary_partition(warp, key > 3);
    if (side.thread_rank() == 0 && key > 3) atomicAdd(&bins[7], side.num_threads());
  }
}

int main() {
  const int n = 1000;
  std::vector<int> h(n), even(n), odd(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 37 + 11) % 613;
  int *src, *evens, *odds, *counts;
  unsigned *bins;
  cudaMalloc(&src, n * sizeof(int));
  cudaMalloc(&evens, n * sizeof(int));
  cudaMalloc(&odds, n * sizeof(int));
  cudaMalloc(&counts, 4 * sizeof(int));
  cudaMalloc(&bins, 8 * sizeof(unsigned));
  cudaMemset(counts, 0, 4 * sizeof(int));
  cudaMemset(bins, 0, 8 * sizeof(unsigned));
  cudaMemcpy(src, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  filter<<<(n + 127) / 128, 128>>>(evens, odds, counts, src, n);
  count_by_mask<<<(n + 127) / 128, 128>>>(counts + 2, counts + 3, src, n);
  histogram<<<1, 256>>>(bins, src, n);
  int c[4];
  unsigned b[8];
  cudaMemcpy(c, counts, sizeof(c), cudaMemcpyDeviceToHost);
  cudaMemcpy(b, bins, sizeof(b), cudaMemcpyDeviceToHost);
  cudaMemcpy(even.data(), evens, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(odd.data(), odds, n * sizeof(int), cudaMemcpyDeviceToHost);
  even.resize(c[0]);
  odd.resize(c[1]);
  std::sort(even.begin(), even.end());
  std::sort(odd.begin(), odd.end());
  std::sort(h.begin(), h.end());
  std::vector<int> e2, o2;
  for (int v : h) (v % 2 == 0 ? e2 : o2).push_back(v);
  o2.erase(std::remove_if(o2.begin(), o2.end(), [](int v) { return v % 3 != 0; }), o2.end());
  printf("%d even: %s, %d odd multiples of 3: %s\n", c[0], even == e2 ? "same" : "DIFFERENT", c[1],
         odd == o2 ? "same" : "DIFFERENT");
  printf("%d multiples of 5, %s\n", c[2], c[3] <= 32 ? "one atomic a warp" : "TOO MANY ATOMICS");
  for (int i = 0; i < 8; ++i) printf("%u ", b[i]);
  printf("\n%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
