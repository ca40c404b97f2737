/// @file
/// The part of cooperative groups that the stages use: the grid, the block, tiles of a warp.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class grid_group {
 public:
  void sync(CUDA_ON_CPU_HERE) const { cuda_on_cpu::grid_barrier({file, line}); }
  bool is_valid() const { return true; }
  unsigned long long size() const { return num_blocks() * blockDim.x * blockDim.y * blockDim.z; }
  unsigned long long num_threads() const { return size(); }
  unsigned long long num_blocks() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  unsigned long long thread_rank() const {
    return block_rank() * blockDim.x * blockDim.y * blockDim.z +
           cuda_on_cpu::thread_in_block();
  }
  dim3 group_dim() const { return gridDim; }
};

class thread_block {
 public:
  void sync(CUDA_ON_CPU_HERE) const {
    using namespace cuda_on_cpu;
    block_barrier(Vote::none, false, "this_thread_block().sync()", {file, line});
  }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return cuda_on_cpu::thread_in_block(); }
  dim3 group_index() const { return blockIdx; }
  dim3 thread_index() const { return threadIdx; }
  dim3 dim_threads() const { return blockDim; }
};

/// Neighbouring lanes of a warp, `lanes` of them: a power of two.
template <unsigned lanes, class Parent = thread_block>
class thread_block_tile {
 public:
  static_assert(lanes > 0 && lanes <= 32 && (lanes & (lanes - 1)) == 0);

  static constexpr unsigned size() { return lanes; }
  static constexpr unsigned num_threads() { return lanes; }
  unsigned thread_rank() const { return cuda_on_cpu::thread_in_block() & (lanes - 1); }
  unsigned meta_group_rank() const { return cuda_on_cpu::thread_in_block() / lanes; }
  unsigned meta_group_size() const { return (thread_block().size() + lanes - 1) / lanes; }

  void sync(CUDA_ON_CPU_HERE) const { __syncwarp(mask(), file, line); }
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_HERE) const {
    return __shfl_sync(mask(), value, source, lanes, file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, CUDA_ON_CPU_HERE) const {
    return __shfl_down_sync(mask(), value, delta, lanes, file, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, CUDA_ON_CPU_HERE) const {
    return __shfl_up_sync(mask(), value, delta, lanes, file, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, CUDA_ON_CPU_HERE) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), lanes, file, line);
  }
  unsigned ballot(int predicate, CUDA_ON_CPU_HERE) const {
    return __ballot_sync(mask(), predicate, file, line) >> first_lane();
  }
  int any(int predicate, CUDA_ON_CPU_HERE) const {
    return __any_sync(mask(), predicate, file, line);
  }
  int all(int predicate, CUDA_ON_CPU_HERE) const {
    return __all_sync(mask(), predicate, file, line);
  }

 private:
  unsigned first_lane() const { return cuda_on_cpu::own_lane() & ~(lanes - 1); }
  unsigned mask() const {
    return (lanes == 32 ? ~0U : ((1U << (lanes & 31U)) - 1U)) << first_lane();
  }
};

inline grid_group this_grid() {
  return {};
}
inline thread_block this_thread_block() {
  return {};
}
template <unsigned lanes, class Parent>
thread_block_tile<lanes, Parent> tiled_partition(const Parent& /*parent*/) {
  return {};
}
template <class Group>
void sync(const Group& group, CUDA_ON_CPU_HERE) {
  group.sync(file, line);
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

/// Every lane of the tile gets the combination of all their values.
template <unsigned lanes, class Parent, class T, class Operation>
T reduce(const thread_block_tile<lanes, Parent>& tile, T value, Operation operation,
         CUDA_ON_CPU_HERE) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    value = operation(value, tile.shfl_xor(value, distance, file, line));
  }
  return value;
}

}  // namespace cooperative_groups
