// Reductions and scans with cooperative groups, C++ style with RAII.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cg = cooperative_groups;

inline void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

template <typename T>
struct DeviceDeleter {
  void operator()(T* p) const { cudaFree(p); }
};
template <typename T>
using DevicePtr = std::unique_ptr<T[], DeviceDeleter<T>>;
template <typename T>
DevicePtr<T> make_device(std::size_t n) {
  T* p = nullptr;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemset(p, 0, n * sizeof(T)));
  return DevicePtr<T>(p);
}

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

  int inclusive = cg::inclusive_scan(warp, 1);
  int exclusive = cg::exclusive_scan(warp, 2, cg::plus<int>());
  if (grid.thread_rank() == 37) out[5] = inclusive, out[6] = exclusive;
  int largest = cg::reduce(warp, static_cast<int>(block.thread_rank()), cg::greater<int>());
  int bits = cg::reduce(warp, 1 << (block.thread_rank() % 5), cg::bit_or<int>());
  if (grid.thread_rank() == 64) out[7] = largest, out[8] = bits;
}

int main() try {
  const int n = 5000;
  std::vector<int> data(n);
  std::iota(data.begin(), data.end(), -100);
  auto in = make_device<int>(n);
  auto out = make_device<int>(9);
  check(cudaMemcpy(in.get(), data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  sums<<<4, 256, 256 * sizeof(int)>>>(in.get(), n, out.get());
  check(cudaGetLastError());
  std::vector<int> result(9);
  check(cudaMemcpy(result.data(), out.get(), 9 * sizeof(int), cudaMemcpyDeviceToHost));
  std::cout << "expected " << std::accumulate(data.begin(), data.end(), 0) << ", got";
  for (int r : result) std::cout << ' ' << r;
  std::cout << std::endl;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
