/// @file
/// What becomes of the sums of a tile.
///
/// A lane has its sums in registers. Slices leave theirs in shared memory, and blocks that share a
/// tile theirs in the workspace, from where they are added up: always in the same order, so with
/// the same bits in every run. Then they go through the epilogue, and to C.
///
/// Sums that go to other threads are moved one by one. As vectors, they would have to be in
/// neighbouring registers, which leaves the compiler too few ways to avoid conflicts of banks.
#pragma once

#include <type_traits>

#include "03_shared_memory/reduce/last_block.cuh"
#include "03_shared_memory/tiles/choose_tile.hpp"
#include "03_shared_memory/tiles/epilogue.cuh"
#include "03_shared_memory/tiles/tiles.cuh"

namespace stagewise::shared_memory {

/// The end of a block's work on a tile.
template <typename T, TileConfig Tile, Mma<T> M>
class Finish {
 public:
  /// @param shared room for the sums of all slices, once nobody reads the last k tile any more.
  __device__ Finish(T* shared, TilePosition position, M& mma, const SplitK<T>& split)
      : shared_(shared), position_(position), mma_(mma), split_(split) {}

  //! [finish]
  /// Adds up the sums of the slices, and those of the blocks that share the tile: the last of these
  /// blocks to get here does the latter. Passes the results to the epilogue, and stores them.
  template <Epilogue E>
  __device__ __forceinline__ void run(const E& epilogue, int m, int n) {
    if constexpr (Tile::slice_k > 1) leave_slice();
    const auto own = [&](auto& sums, const auto& index) { get_own(sums, index); };
    if (gridDim.y == 1) return deliver<from_own<E>>(own, epilogue, m, n);
    SplitSums left = {
        split_.sums + static_cast<Index>(blockIdx.x) * gridDim.y * Tile::BM * Tile::BN,
        static_cast<int>(gridDim.y)};
    for_own_groups<from_own<E>>([&]<int groups>(int first, int last) {
      T sums[groups * together];
      const auto index = [&](int j) { return sum_index(first, last, j); };
      own(sums, index);
#pragma unroll
      for (int j = 0; j < groups * together; ++j) {
        left.at(static_cast<int>(blockIdx.y), index(j)) = sums[j];
      }
    });
    if (is_last(left)) deliver<from_memory<E>>(left, epilogue, m, n);
  }
  //! [finish]

 private:
  /// Sums are moved in groups: neighbours in a row, unless that leaves slices without any.
  static constexpr int together =
      M::sums % (M::neighbours * Tile::slice_k) == 0 ? M::neighbours : 2;
  static constexpr int all_groups = M::sums / together;

  /// How many groups a thread works on at a time. From registers, whose indices must be constants,
  /// all. From memory, enough that their loads overlap, but no more: warps would wait for the
  /// instructions of long code that runs once.
  template <Epilogue E>
  static constexpr int from_memory = [] {
    constexpr int of_slice = (all_groups + Tile::slice_k - 1) / Tile::slice_k;
    constexpr int ahead = E::read_ahead > 0 ? E::read_ahead : 16;
    constexpr int times = (of_slice * together + ahead - 1) / ahead;
    return (of_slice + times - 1) / times;
  }();
  template <Epilogue E>
  static constexpr int from_own = Tile::slice_k == 1 ? all_groups : from_memory<E>;

  /// The groups that a slice finishes: from its first to before that of the next.
  static __device__ constexpr int first_group(int slice) {
    return (slice * all_groups + Tile::slice_k - 1) / Tile::slice_k;
  }

  /// Calls work.operator()<groups>(first, last) for these groups, `groups` at a time; `last` is the
  /// last group of this slice.
  template <int groups, typename Work>
  static __device__ __forceinline__ void for_own_groups(const Work& work) {
    if constexpr (groups == all_groups && Tile::slice_k == 1) {
      work.template operator()<groups>(0, groups - 1);
    } else {
      const int end = first_group(Tile::slice() + 1);
#pragma unroll 1
      for (int first = first_group(Tile::slice()); first < end; first += groups) {
        work.template operator()<groups>(first, end - 1);
      }
    }
  }

  /// Which sum is number `j` of the groups from `first` on; past the last group, of that one.
  static __device__ __forceinline__ int sum_index(int first, int last, int j) {
    const int group = first + j / together;
    return (group < last ? group : last) * together + j % together;
  }

  /// Leaves this slice's sums in shared memory, and waits for those of the others.
  __device__ __forceinline__ void leave_slice() {
    __syncthreads();  // nobody reads the last k tile any more
#pragma unroll
    for (int i = 0; i < M::sums; ++i) of_slice(Tile::slice(), i) = mma_.sum(i);
    __syncthreads();
  }

  /// Where a slice leaves a sum.
  __device__ T& of_slice(int slice, int i) const {
    return shared_[(slice * M::sums + i) * Tile::slice_threads + Tile::slice_thread()];
  }

  /// This block's sums, those with the indices that `index` gives.
  template <int count, typename IndexOf>
  __device__ __forceinline__ void get_own(T (&sums)[count], const IndexOf& index) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if constexpr (Tile::slice_k == 1) {
        sums[j] = mma_.sum(index(j));
      } else {
        sums[j] = of_slice(0, index(j));
#pragma unroll
        for (int s = 1; s < Tile::slice_k; ++s) sums[j] += of_slice(s, index(j));
      }
    }
  }

  /// Those of all blocks that share the tile.
  struct SplitSums {
    T* sums;
    int count;
    int apart = 1;  ///< from one block's to the next

    __device__ T& at(int block, int i) const {
      constexpr int of_block = M::sums * Tile::slice_threads;
      return sums[block * apart * of_block + i * Tile::slice_threads + Tile::slice_thread()];
    }

    /// See get_own().
    template <int number, typename IndexOf>
    __device__ __forceinline__ void operator()(T (&total)[number], const IndexOf& index) const {
#pragma unroll
      for (int j = 0; j < number; ++j) total[j] = 0;
#pragma unroll 4  // so that the loads of four blocks are in flight together
      for (int block = 0; block < count; ++block) {
#pragma unroll
        for (int j = 0; j < number; ++j) total[j] += at(block, index(j));
      }
    }
  };

  /// Whether this block is the last to leave its sums, so that it finishes the tile. If many share
  /// one, it would add them all up while the other blocks have nothing to do: so the last block of
  /// each group leaves the group's sum in place of its first block's.
  ///
  /// The counters say how many blocks of each tile, and of each group, have left theirs. There are
  /// as many as tiles and groups, so never more than all blocks; see split_tiles().
  __device__ __forceinline__ bool is_last(SplitSums& left) const {
    unsigned* const counter = split_.counters + blockIdx.x;
    const auto blocks = static_cast<int>(gridDim.y);
    const int groups = split_k_groups(blocks);
    if (groups == 0) return is_last_block(counter, gridDim.y);
    const int first = static_cast<int>(blockIdx.y) / split_k_group * split_k_group;
    const int size = blocks - first < split_k_group ? blocks - first : split_k_group;
    unsigned* const of_group =
        split_.counters + gridDim.x + blockIdx.x * groups + first / split_k_group;
    if (!is_last_block(of_group, static_cast<unsigned>(size))) return false;

    constexpr int at_once = M::sums % (8 * Tile::slice_k) == 0 ? 8 : 2;
    const SplitSums group = {&left.at(first, 0) - Tile::slice_thread(), size};
#pragma unroll 1
    for (int i = Tile::slice() * at_once; i < M::sums; i += Tile::slice_k * at_once) {
      T sums[at_once];
      group(sums, [&](int j) { return i + j; });
#pragma unroll
      for (int j = 0; j < at_once; ++j) group.at(0, i + j) = sums[j];
    }
    left.count = groups;
    left.apart = split_k_group;
    return is_last_block(counter, static_cast<unsigned>(groups));
  }

  /// Finishes and stores some groups at a time. If the epilogue reads, all that these need is
  /// loaded before the first of them is stored, so that the loads overlap. If it does not, each
  /// group is stored at once, which leaves the compiler free to choose registers.
  template <int at_once, typename Sums, Epilogue E>
  __device__ __forceinline__ void deliver(const Sums& get, const E& epilogue, int m, int n) {
    if constexpr (takes_four_rows<E>) {
      deliver_rows(get, epilogue, n);
    } else {
      epilogue.with_finish([&](const auto& source, const auto& finish) {
        for_own_groups<at_once>([&]<int groups>(int first, int last) {
          constexpr bool reads_first = E::read_ahead > 0;
          constexpr int before_store = reads_first ? groups : 1;
          T sums[groups * together];
          T read[groups * together] = {};
          if constexpr (reads_first) load_source<groups>(source, epilogue, first, last, m, n, read);
          get(sums, [&](int j) { return sum_index(first, last, j); });
#pragma unroll
          for (int begin = 0; begin < groups; begin += before_store) {
            if constexpr (!reads_first) {
              load_source<1>(source, epilogue, first + begin, last, m, n, read + begin * together);
            }
#pragma unroll
            for (int group = begin; group < begin + before_store; ++group) {
              const int i = (first + group) * together;
#pragma unroll
              for (int j = 0; j < together; ++j) {
                T& sum = sums[group * together + j];
                sum = finish(row_of(i), sum, read[group * together + j]);
              }
              if (first + group > last) continue;
              if (row_of(i) >= m) continue;
              store_neighbours<together>(epilogue.row(row_of(i)), column_of(i), n, epilogue.vectors,
                                         sums + group * together);
            }
          }
        });
      });
    }
  }

  /// The same for an epilogue that takes neighbours of four rows of a lane at once.
  template <typename Sums, Epilogue E>
  __device__ __forceinline__ void deliver_rows(const Sums& get, const E& epilogue, int n) {
    static_assert(M::rows % 4 == 0);
    constexpr int count = M::rows / 4 * M::groups;
    constexpr int unrolled = Tile::slice_k == 1 ? count : 1;
#pragma unroll unrolled
    for (int i = Tile::slice(); i < count; i += Tile::slice_k) {
      const int row = i / M::groups * 4;
      const int group = i % M::groups;
      T sums[4][M::neighbours];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        get(sums[r], [&](int j) { return M::first_sum(row + r, group) + j; });
      }
      const int first = M::first_sum(row, group);
      epilogue(row_of(first), column_of(first), n, sums);
    }
  }

  /// Loads what groups of sums need besides.
  template <int groups, typename Source, Epilogue E>
  __device__ __forceinline__ void load_source(const Source& source, const E& epilogue, int first,
                                              int last, int m, int n, T* read) const {
    if constexpr (!std::is_same_v<Source, NoSource>) {
#pragma unroll
      for (int group = 0; group < groups; ++group) {
        const int i = sum_index(first, last, group * together);
        const int row = row_of(i);
        const T* const from = row < m ? source(row) : nullptr;
        if (from == nullptr) continue;
        load_neighbours<together>(from, column_of(i), n, epilogue.vectors, read + group * together);
      }
    }
  }

  /// Where sum `i` is in C.
  __device__ int row_of(int i) const {
    return position_.top + M::row(i);
  }
  /// See above.
  __device__ int column_of(int i) const {
    return position_.left + M::column(i);
  }

  T* shared_;
  TilePosition position_;
  M& mma_;
  const SplitK<T>& split_;
};

}  // namespace stagewise::shared_memory
