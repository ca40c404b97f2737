/// @file
/// Of the cooperative groups: the grid, the block, and a group of any kind.
#pragma once

#include "cuda_on_cpu/lane_group.h"
#include "cuda_runtime.h"

namespace cooperative_groups {

/// A group of a kind that only the run shows: a block, a tile of it, coalesced lanes.
class thread_group {
 public:
  void sync(CUDA_ON_CPU_HERE) const {
    using namespace cuda_on_cpu;
    if (size_ > 32 && size_ < block_threads()) {
      tile_barrier(size_, "sync() of a tile", place);
    } else if (mask_ == 0) {
      block_barrier(Vote::none, false, "sync() of a thread_group", place);
    } else {
      __syncwarp(mask_, place);
    }
  }
  unsigned size() const { return mask_ == 0 ? size_ : static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return mask_ == 0 ? cuda_on_cpu::thread_in_block() % size_
                      : cuda_on_cpu::rank_of_lane(mask_, cuda_on_cpu::own_lane());
  }
  /// Not a function of CUDA's: the lanes of the own warp, none for a group of several warps.
  unsigned lanes() const { return mask_; }

 protected:
  explicit thread_group(unsigned size, unsigned mask = 0) : size_(size), mask_(mask) {}
  static unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

  friend thread_group any_group(unsigned size, unsigned mask);

 private:
  unsigned size_;
  unsigned mask_;
};

/// Not a function of CUDA's: makes a group of lanes, or of several warps with no mask.
inline thread_group any_group(unsigned size, unsigned mask) {
  return thread_group(size, mask);
}

/// All threads of all blocks, in a cooperative launch.
class grid_group {
 public:
  void sync(CUDA_ON_CPU_HERE) const { cuda_on_cpu::grid_barrier(place); }
  bool is_valid() const { return true; }
  unsigned long long size() const { return num_blocks() * block_threads(); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long num_blocks() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  unsigned long long thread_rank() const {
    return block_rank() * block_threads() + cuda_on_cpu::thread_in_block();
  }
  dim3 group_dim() const { return gridDim; }
  dim3 dim_blocks() const { return gridDim; }
  dim3 block_index() const { return blockIdx; }

 private:
  static unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
};

/// All threads of the block.
class thread_block : public thread_group {
 public:
  static void sync(CUDA_ON_CPU_HERE) {
    using namespace cuda_on_cpu;
    block_barrier(Vote::none, false, "this_thread_block().sync()", place);
  }
  static unsigned size() { return block_threads(); }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() { return cuda_on_cpu::thread_in_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }

 private:
  thread_block() : thread_group(block_threads()) {}
  friend thread_block this_thread_block();
};

inline grid_group this_grid() {
  return {};
}
inline thread_block this_thread_block() {
  return {};
}

}  // namespace cooperative_groups
