/// @file
/// Cooperative groups: the grid, the block, tiles of it, and lanes that a branch keeps together.
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
inline thread_group any_group(unsigned size, unsigned mask) { return thread_group(size, mask); }

/// All threads of all blocks, in a cooperative launch.
class grid_group {
 public:
  void sync(CUDA_ON_CPU_HERE) const { cuda_on_cpu::grid_barrier(place); }
  bool is_valid() const { return true; }
  unsigned long long size() const { return num_blocks() * block_threads(); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long num_blocks() const { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  unsigned long long thread_rank() const { return block_rank() * block_threads() + cuda_on_cpu::thread_in_block(); }
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

inline grid_group this_grid() { return {}; }
inline thread_block this_thread_block() { return {}; }

/// Any lanes of a warp.
class coalesced_group : public cuda_on_cpu::LaneGroup {
 public:
  /// Not a constructor of CUDA's.
  coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size) : LaneGroup(mask, meta_rank, meta_size) {}

  unsigned size() const { return count(); }
  unsigned num_threads() const { return size(); }
  operator thread_group() const { return any_group(size(), mask_); }
  /// Only a tile's ranks begin again behind the last one.
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_HERE) const {
    return from_rank(value, static_cast<unsigned>(source), "shfl", place);
  }
};

/// The lanes of the warp that are at this place together.
inline coalesced_group coalesced_threads(CUDA_ON_CPU_HERE) {
  return {cuda_on_cpu::converge("coalesced_threads()", place), 0, 1};
}

/// The lanes of the group that have the same label.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, CUDA_ON_CPU_HERE) {
  const unsigned lanes = group.lanes();
  const unsigned same = __match_any_sync(lanes, label, place);
  const unsigned lowest = same & (~same + 1U);
  const bool leads = lowest == 1U << cuda_on_cpu::own_lane();
  const unsigned leaders = __ballot_sync(lanes, leads ? 1 : 0, place);
  return {same, static_cast<unsigned>(__popc(leaders & (lowest - 1U))), static_cast<unsigned>(__popc(leaders))};
}
/// The lanes of the group for which the predicate is the same.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, CUDA_ON_CPU_HERE) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate ? 1 : 0, place);
  const unsigned present = group.lanes() & cuda_on_cpu::lanes_of_own_warp();
  return {predicate ? yes : present & ~yes, predicate ? 1U : 0U, 2};
}

template <unsigned threads, class Parent = void>
class thread_block_tile;

/// Room that a GPU needs for tiles of more than one warp; here the runtime has it.
template <unsigned max_block_size = 1024>
struct block_tile_memory {
  std::uint64_t values[max_block_size / 32 > 0 ? max_block_size / 32 : 1];
};
template <unsigned max_block_size>
thread_block this_thread_block(block_tile_memory<max_block_size>& /*memory*/) {
  return this_thread_block();
}

/// Not a class of CUDA's: a tile within a warp, a power of two of its lanes.
template <unsigned threads>
class WarpTile : public cuda_on_cpu::LaneGroup {
 public:
  static constexpr unsigned size() { return threads; }
  static constexpr unsigned num_threads() { return threads; }
  unsigned thread_rank() const { return cuda_on_cpu::own_lane() & (threads - 1); }
  operator thread_group() const { return any_group(threads, mask_); }

  template <class T>
  T shfl_xor(T value, unsigned lane_mask, CUDA_ON_CPU_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned other = rank ^ lane_mask;
    return from_rank(value, other < threads ? other : rank, "shfl_xor", place);
  }

 protected:
  WarpTile(unsigned meta_rank, unsigned meta_size)
      : LaneGroup((threads == 32 ? ~0U : (1U << (threads & 31U)) - 1U) << (cuda_on_cpu::own_lane() & ~(threads - 1)),
                  meta_rank, meta_size) {}
};

/// Not a class of CUDA's: a tile of several warps.
template <unsigned threads>
class WarpsTile {
 public:
  static constexpr unsigned size() { return threads; }
  static constexpr unsigned num_threads() { return threads; }
  unsigned thread_rank() const { return cuda_on_cpu::thread_in_block() & (threads - 1); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  unsigned present() const {
    const unsigned left = this_thread_block().size() - (cuda_on_cpu::thread_in_block() & ~(threads - 1));
    return left < threads ? left : threads;
  }
  operator thread_group() const { return any_group(threads, 0); }

  void sync(CUDA_ON_CPU_HERE) const { cuda_on_cpu::tile_barrier(threads, "sync() of a tile", place); }
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_HERE) const {
    using namespace cuda_on_cpu;
    std::uint64_t* const values = tile_values(threads);
    return by_words(value, [&](std::uint64_t word) {
      values[thread_rank()] = word;
      tile_barrier(threads, "shfl of a tile", place);
      word = values[static_cast<unsigned>(source) & (threads - 1)];
      tile_barrier(threads, "shfl of a tile", place);
      return word;
    });
  }
  int any(int predicate, CUDA_ON_CPU_HERE) const { return count(predicate, place) > 0; }
  int all(int predicate, CUDA_ON_CPU_HERE) const { return count(predicate, place) == present(); }

 protected:
  WarpsTile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  unsigned count(int predicate, cuda_on_cpu::Place place) const {
    using namespace cuda_on_cpu;
    std::uint64_t* const values = tile_values(threads);
    values[thread_rank()] = predicate != 0 ? 1 : 0;
    tile_barrier(threads, "a vote of a tile", place);
    unsigned votes = 0;
    for (unsigned i = 0; i < present(); ++i) votes += static_cast<unsigned>(values[i]);
    tile_barrier(threads, "a vote of a tile", place);
    return votes;
  }

  unsigned meta_rank_;
  unsigned meta_size_;
};

/// Neighbouring threads of a block, a power of two of them, whose number the compiler knows.
template <unsigned threads, class Parent>
class thread_block_tile : public std::conditional_t<threads <= 32, WarpTile<threads>, WarpsTile<threads>> {
  static_assert(threads > 0 && threads <= 1024 && (threads & (threads - 1)) == 0,
                "a tile has 1, 2, 4, ... or 1024 threads");
  using Base = std::conditional_t<threads <= 32, WarpTile<threads>, WarpsTile<threads>>;

 public:
  /// Not a constructor of CUDA's.
  thread_block_tile(unsigned meta_rank, unsigned meta_size) : Base(meta_rank, meta_size) {}
  /// A tile whose parent does not matter.
  template <class Other>
  thread_block_tile(const thread_block_tile<threads, Other>& other)
      : Base(other.meta_group_rank(), other.meta_group_size()) {}
};

template <unsigned threads, class Parent>
thread_block_tile<threads, Parent> tiled_partition(const Parent& parent) {
  const auto all = static_cast<unsigned>(parent.size());
  return {static_cast<unsigned>(parent.thread_rank()) / threads, (all + threads - 1) / threads};
}
/// The calling thread alone.
inline thread_block_tile<1> this_thread() { return {0, 1}; }

/// Tiles of a size that only the run shows, at most 32.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned first = parent.thread_rank() / size * size;
  unsigned mask = 0;
  if (parent.lanes() == 0) {
    mask = (size == 32 ? ~0U : (1U << (size & 31U)) - 1U) << (cuda_on_cpu::own_lane() & ~(size - 1));
    mask &= cuda_on_cpu::lanes_of_own_warp();
  } else {
    for (unsigned rank = first; rank < first + size && rank < parent.size(); ++rank) {
      mask |= 1U << cuda_on_cpu::lane_of_rank(parent.lanes(), rank);
    }
  }
  return any_group(size, mask);
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned rank = parent.thread_rank() / size;
  const thread_group tile = tiled_partition(static_cast<thread_group>(parent), size);
  return {tile.lanes(), rank, (parent.size() + size - 1) / size};
}

template <class Group>
void sync(const Group& group, CUDA_ON_CPU_HERE) {
  group.sync(place);
}
template <class Group>
unsigned thread_rank(const Group& group) {
  return static_cast<unsigned>(group.thread_rank());
}
template <class Group>
unsigned group_size(const Group& group) {
  return static_cast<unsigned>(group.size());
}

/// One thread of the group calls the function.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) {
    std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  }
}
#define CUDA_ON_CPU_OPERATION(name, Operation)                              \
  template <class T>                                                        \
  struct name {                                                             \
    T operator()(T a, T b) const { return cuda_on_cpu::Operation()(a, b); } \
  };
CUDA_ON_CPU_OPERATION(plus, Add)
CUDA_ON_CPU_OPERATION(less, Min)
CUDA_ON_CPU_OPERATION(greater, Max)
CUDA_ON_CPU_OPERATION(bit_and, And)
CUDA_ON_CPU_OPERATION(bit_or, Or)
CUDA_ON_CPU_OPERATION(bit_xor, Xor)
#undef CUDA_ON_CPU_OPERATION

}  // namespace cooperative_groups
