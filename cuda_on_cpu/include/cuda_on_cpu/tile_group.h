/// @file
/// Of the cooperative groups: tiles, which are neighbouring threads of a block.
#pragma once

#include "cuda_on_cpu/block_group.h"
#include "cuda_on_cpu/coalesced_group.h"

namespace cooperative_groups {

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
      : LaneGroup((threads == 32 ? ~0U : (1U << (threads & 31U)) - 1U)
                      << (cuda_on_cpu::own_lane() & ~(threads - 1)),
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
    const unsigned left =
        this_thread_block().size() - (cuda_on_cpu::thread_in_block() & ~(threads - 1));
    return left < threads ? left : threads;
  }
  operator thread_group() const { return any_group(threads, 0); }

  void sync(CUDA_ON_CPU_HERE) const {
    cuda_on_cpu::tile_barrier(threads, "sync() of a tile", place);
  }
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
  WarpsTile(unsigned meta_rank, unsigned meta_size)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}

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
class thread_block_tile
    : public std::conditional_t<threads <= 32, WarpTile<threads>, WarpsTile<threads>> {
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
inline thread_block_tile<1> this_thread() {
  return {0, 1};
}

/// Tiles of a size that only the run shows, at most 32.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned first = parent.thread_rank() / size * size;
  unsigned mask = 0;
  if (parent.lanes() == 0) {
    mask = (size == 32 ? ~0U : (1U << (size & 31U)) - 1U)
           << (cuda_on_cpu::own_lane() & ~(size - 1));
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

}  // namespace cooperative_groups
