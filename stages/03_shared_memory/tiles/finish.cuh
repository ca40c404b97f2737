/// @file
/// What becomes of the sums of a tile: they are added up, go through an epilogue, and are stored.
///
/// A lane has its sums in registers. Slices leave theirs in shared memory, one by one: as vectors,
/// they would have to be in neighbouring registers, which leaves the compiler too few ways to avoid
/// bank conflicts. Blocks that share a tile leave theirs in the workspace (split_k.cuh).
///
/// An **epilogue** does more with a sum while it is still in a register. It says what is stored,
/// and where. So that a thread requests all that it needs before it uses the first of it, that
/// comes in two parts:
///
///     T* row(int row) const;            // where a row's elements go, one after another
///     bool vectors;                     // whether rows can be written 16 bytes at a time
///     void with_finish(work) const;     // calls work(source, finish)
///     static constexpr int read_ahead;  // scalars loaded at once; 0: it usually loads none
///
/// where `const T* source(int row)` says where the numbers are that the elements of a row need, one
/// for each column (null: zeros), and `T finish(int row, T sum, T source)` what to store. They can
/// be loaded 16 bytes at a time if `vectors`.
///
/// It may instead take neighbouring columns of four rows of a lane at once, and store them itself;
/// `row` is the first of the four, and which rows they are depends on the Mma:
///
///     static constexpr bool four_rows = true;
///     static constexpr int read_ahead = 0;
///     bool vectors;
///     void operator()(int row, int column, int n, const T (&sums)[4][neighbours]) const;
#pragma once

#include <type_traits>

#include "03_shared_memory/tiles/split_k.cuh"
#include "03_shared_memory/tiles/tiles.cuh"
#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

/// Stores neighbours in a row, as far as they are inside; see load_neighbours().
template <int count, typename T>
__device__ __forceinline__ void store_neighbours(T* row, int column, int n, bool vectors,
                                                 const T* values) {
  if (column >= n) return;
  if (vectors) {
    Vector<T, count> vector;
#pragma unroll
    for (int j = 0; j < count; ++j) vector.values[j] = values[j];
    *reinterpret_cast<Vector<T, count>*>(row + column) = vector;
  } else {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (column + j < n) row[column + j] = values[j];
    }
  }
}

/// Whether an epilogue takes neighbours of four rows at once.
template <typename E>
constexpr bool takes_four_rows = requires {
  E::four_rows;
};

/// For an epilogue that needs only the sums.
struct NoSource {};

/// The rows of the matrix that an epilogue stores.
template <typename T>
struct StoredRows {
  T* out;
  int n;         ///< columns
  bool vectors;  ///< whether they can be read and written 16 bytes at a time

  /// @param source rows of as many columns, which the epilogue reads; null: none.
  StoredRows(T* to, Index columns, const T* source = nullptr)
      : out(to),
        n(static_cast<int>(columns)),
        vectors(is_aligned(to, columns) && is_aligned(source, columns)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return out + static_cast<Index>(i) * n; }
};

/// The end of a block's work on a tile.
template <typename T, TileConfig Tile, Mma<T> M>
class Finish {
  /// Where sum `i` is in C.
  __device__ int row_of(int i) const { return position_.top + M::row(i); }
  /// See above.
  __device__ int column_of(int i) const { return position_.left + M::column(i); }

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
    SplitSums<T, Tile, M::sums> left = {
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
    if (left.is_last(split_.counters)) deliver<from_memory<E>>(left, epilogue, m, n);
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
    [[maybe_unused]] constexpr int unrolled = Tile::slice_k == 1 ? count : 1;
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

  T* shared_;
  TilePosition position_;
  M& mma_;
  const SplitK<T>& split_;
};

}  // namespace stagewise::shared_memory
