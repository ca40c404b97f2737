// Cooperative groups: sums and scans of blocks, tiles and warps, and of lanes that happen to be in the same branch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <numeric>

#include "expect.h"

namespace cg = cooperative_groups;

// Any group will do: the block, a tile of run-time size, lanes of a branch.
__device__ int reduce_sum(cg::thread_group g, int* temp, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}

template <unsigned Tile, typename Group>
__device__ int tile_sum(const Group& parent, int value) {
  auto tile = cg::tiled_partition<Tile>(parent);
  return cg::reduce(tile, value, cg::plus<int>());
}

__global__ void sums(const int* data, int n, int* out) {
  extern __shared__ int temp[];
  __shared__ cg::block_tile_memory<256> memory;
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();

  int mine = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) mine += data[i];
  int whole = reduce_sum(block, temp, mine);
  if (block.thread_rank() == 0) atomicAdd(&out[0], whole);

  cg::thread_group tile4 = cg::tiled_partition(block, 4);
  int quarter = reduce_sum(tile4, temp + block.thread_rank() / 4 * 4, mine);
  if (tile4.thread_rank() == 0) atomicAdd(&out[1], quarter);

  auto warp = cg::tiled_partition<32>(block);
  int w = cg::reduce(warp, mine, cg::plus<int>());
  cg::invoke_one(warp, [&] { atomicAdd(&out[2], w); });
  int by8 = tile_sum<8>(warp, mine);
  if (warp.thread_rank() % 8 == 0) atomicAdd(&out[3], by8);

  auto wide = cg::tiled_partition<128>(cg::this_thread_block(memory));
  int of_wide = cg::reduce(wide, mine, cg::plus<int>());
  if (wide.thread_rank() == 0) atomicAdd(&out[4], of_wide);

  auto tile8 = cg::tiled_partition<8>(block);
  for (unsigned offset = 4; offset > 0; offset /= 2) mine += tile8.shfl_down(mine, offset);
  if (tile8.thread_rank() == 0) atomicAdd(&out[9], mine);

  int inclusive = cg::inclusive_scan(warp, 1);
  int exclusive = cg::exclusive_scan(warp, 2, cg::plus<int>());
  if (grid.thread_rank() == 37) out[5] = inclusive, out[6] = exclusive;
  int largest = cg::reduce(warp, static_cast<int>(block.thread_rank()), cg::greater<int>());
  int bits = cg::reduce(warp, 1 << (block.thread_rank() % 5), cg::bit_or<int>());
  if (grid.thread_rank() == 64) out[7] = largest, out[8] = bits;
}

// In the manner of a blog post: the lanes that keep their element draw places together, with one atomic for all.
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
__global__ void count_by_mask(int *counts, const int *src, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n && src[i] % 5 == 0) {
    unsigned active = __activemask();
    if ((threadIdx.x & 31) == __ffs(active) - 1) {
      atomicAdd(&counts[0], __popc(active));
      atomicAdd(&counts[1], 1);
    }
  }
}

// The lanes with the same key add once.
__global__ void histogram(unsigned *bins, const int *src, int n) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
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
  int *data = zeros<int>(n), *out = zeros<int>(10);
  std::iota(data, data + n, -100);
  sums<<<2, 256, 256 * sizeof(int)>>>(data, n, out);
  OK(cudaDeviceSynchronize());
  const int sum = std::accumulate(data, data + n, 0), others[] = {6, 10, 95, 31};
  for (int i = 0; i < 10; ++i) EXPECT(out[i] == (i < 5 || i == 9 ? sum : others[i - 5]));

  int *evens = zeros<int>(n), *odds = zeros<int>(n), *counts = zeros<int>(4);
  unsigned *bins = zeros<unsigned>(8);
  for (int i = 0; i < n; ++i) data[i] = (i * 37 + 11) % 613;
  filter<<<(n + 127) / 128, 128>>>(evens, odds, counts, data, n);
  count_by_mask<<<(n + 127) / 128, 128>>>(counts + 2, data, n);
  histogram<<<1, 256>>>(bins, data, n);
  RESULT(counts[0] == 500 && counts[1] == 166 && counts[2] == 199 && counts[3] <= 32);
  int sum_of_evens = 0, sum_of_odds = 0;
  unsigned right_bins[8] = {};
  for (int i = 0; i < n; ++i) {
    sum_of_evens += data[i] % 2 == 0 ? data[i] : 0;
    sum_of_odds += data[i] % 2 != 0 && data[i] % 3 == 0 ? data[i] : 0;
    ++right_bins[data[i] % 7];
    right_bins[7] += data[i] % 7 > 3;
  }
  EXPECT(std::accumulate(evens, evens + n, 0) == sum_of_evens && std::accumulate(odds, odds + n, 0) == sum_of_odds);
  for (int i = 0; i < 8; ++i) EXPECT(bins[i] == right_bins[i]);
}
