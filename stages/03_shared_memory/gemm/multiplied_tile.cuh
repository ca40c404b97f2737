/// @file
/// The main loop of rungs 14 and above, for any unit that multiplies.
///
/// Around the multiplication, little changes: matrices say where an element is (loader.cuh),
/// asynchronous copies fill a pipeline of k tiles (pipeline.cuh), and an epilogue stores
/// (epilogue.cuh). What multiplies is a part of its own, a **multiplier**: it knows which elements
/// of the factors a lane needs (its fragments), which sums it gets, and the instruction. For a
/// tiling that gives a slice `depth` steps of a k tile, it is a type that has
///
///     static constexpr int rounds;  // in which it loads fragments and multiplies them; even
///     void load(int round, const T* a, const T* b);  // the fragments of a round
///     void multiply(int round);
///     static constexpr int sums;
///     static constexpr int neighbours;  // so many sums, from a multiple on, share a row
///     T& sum(int i);
///     static int row(int i);  // where a sum is in the block's tile
///     static int column(int i);
///     static int number(int row, int group);  // of the first of neighbours in one of its rows
///     static constexpr int rows;  // of a lane
///     static constexpr int groups;  // of neighbours in each
///
/// Fragments are loaded one round ahead, into one of two sets of registers. Round number `rounds`
/// is the first of the next k tile.
///
/// Sums that go to other threads are moved one by one. As vectors, they would have to be in
/// neighbouring registers, which leaves the compiler too few ways to avoid conflicts of banks.
#pragma once

#include <algorithm>
#include <type_traits>

#include "03_shared_memory/gemm/epilogue.cuh"
#include "03_shared_memory/gemm/pipeline.cuh"
#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/reduce/last_block.cuh"

namespace stagewise::shared_memory {

/// A block's work on a tile of C.
template <typename T, template <typename, typename, typename> class MultiplierOf, typename Tiling_,
          typename MatrixA, typename MatrixB>
class MultipliedTile {
 public:
  using Tiling = Tiling_;
  using Stages = Pipeline<T, Tiling, MatrixA, MatrixB>;
  using Multiplier = MultiplierOf<Tiling, typename Stages::TileA, typename Stages::TileB>;

  /// Of shared memory that a block needs.
  static constexpr int bytes() {
    constexpr int sums = Tiling::slices > 1 ? Tiling::slices * Tiling::BM * Tiling::BN : 0;
    return static_cast<int>(sizeof(T)) * std::max(Stages::elements, sums);
  }

  /// @param shared bytes() bytes.
  __device__ MultipliedTile(T* shared, TilePlace tile) : shared_(shared), tile_(tile) {}

  //! [multiply_tile]
  /// Adds up steps `begin` to `end` - 1; `begin` is a multiple of BK.
  /// @param wait_for_b,meanwhile see Pipeline::fill().
  template <typename Wait, typename Meanwhile>
  __device__ void multiply(const MatrixA& a, const MatrixB& b, int begin, int end,
                           const Wait& wait_for_b, const Meanwhile& meanwhile) {
    Stages pipeline(shared_, a, b, tile_, begin, end);
    pipeline.fill(wait_for_b, meanwhile);
    multiplier_.load(0, pipeline.a(), pipeline.b());
    while (pipeline.has_k_tile()) multiply_k_tile(pipeline);
    pipeline.drain();
  }
  //! [multiply_tile]

  /// Where the blocks that share a tile leave their sums.
  struct Parts {
    T* partials;  ///< room for the `count` parts of each tile, as large as the tile
    /// How many parts of each tile, and of each group of parts, have been left; 0 before and after.
    /// As many as tiles and groups, so never more than all tiles have parts; see share_tiles().
    unsigned* counters;
    int tile;  ///< its number
    int part;  ///< this block's
    int count;
  };

  //! [finish]
  /// Adds up the sums of the slices, and those of the blocks that share the tile: the last of these
  /// blocks to get here does the latter, always in the same order. Passes the results to the
  /// epilogue, and stores them.
  ///
  /// Slices leave their sums in shared memory. Each then finishes a part of the tile in a loop over
  /// a few places at a time.
  template <typename Epilogue>
  __device__ void finish(const Epilogue& epilogue, int m, int n, const Parts& parts) {
    if constexpr (Tiling::slices > 1) leave_sums();
    if constexpr (takes_four_rows<Epilogue>) {
      finish_rows(epilogue, n, parts);
    } else {
      finish_groups(epilogue, m, n, parts);
    }
  }
  //! [finish]

 private:
  //! [multiply_k_tile]
  /// Multiplies a k tile, whose first fragments must be loaded; at the end, those of the next are.
  __device__ __forceinline__ void multiply_k_tile(Stages& pipeline) {
    constexpr int rounds = Multiplier::rounds;
    static_assert(rounds % 2 == 0, "each k tile must begin with the same registers");
    for_each_number<rounds>([&]<int i>() {
      if constexpr (i + 1 == rounds) pipeline.advance();
      multiplier_.load(i + 1, pipeline.a(), pipeline.b());
      if constexpr (i + 1 < rounds) pipeline.template copy<rounds - 1, i>();
      multiplier_.multiply(i);
    });
  }
  //! [multiply_k_tile]

  /// How many sums are stored together: neighbours in a row, unless that leaves slices without any.
  static constexpr int together = Multiplier::sums % (Multiplier::neighbours * Tiling::slices) == 0
                                      ? Multiplier::neighbours
                                      : 2;
  static constexpr int groups_of_sums = Multiplier::sums / together;

  /// How many such groups a thread works on at a time. From registers, whose numbers must be
  /// constants, all. From memory, enough that their loads overlap, but no more: warps would wait
  /// for the instructions of long code that runs once.
  template <typename Epilogue>
  static constexpr int in_memory = [] {
    constexpr int all = (groups_of_sums + Tiling::slices - 1) / Tiling::slices;
    constexpr int ahead = Epilogue::read_ahead > 0 ? Epilogue::read_ahead : 16;
    constexpr int times = (all * together + ahead - 1) / ahead;
    return (all + times - 1) / times;
  }();
  template <typename Epilogue>
  static constexpr int direct = Tiling::slices == 1 ? groups_of_sums : in_memory<Epilogue>;

  /// The groups that this slice finishes: from its first to before that of the next.
  static __device__ constexpr int first_group(int slice) {
    return (slice * groups_of_sums + Tiling::slices - 1) / Tiling::slices;
  }

  /// Calls work.operator()<groups>(first, last) for these groups, `groups` at a time; `last` is the
  /// last group of this slice.
  template <int groups, typename Work>
  static __device__ __forceinline__ void for_own_groups(const Work& work) {
    if constexpr (groups == groups_of_sums && Tiling::slices == 1) {
      work.template operator()<groups>(0, groups - 1);
    } else {
      const int end = first_group(Tiling::slice() + 1);
#pragma unroll 1
      for (int first = first_group(Tiling::slice()); first < end; first += groups) {
        work.template operator()<groups>(first, end - 1);
      }
    }
  }

  /// The number of sum `j` of some groups; past the last group, of its own.
  static __device__ __forceinline__ int number(int first, int last, int j) {
    const int group = first + j / together;
    return (group < last ? group : last) * together + j % together;
  }

  /// Leaves this slice's sums in shared memory, and waits for those of the others.
  __device__ __forceinline__ void leave_sums() {
    __syncthreads();  // nobody reads the last k tile any more
#pragma unroll
    for (int i = 0; i < Multiplier::sums; ++i) of_slice(Tiling::slice(), i) = multiplier_.sum(i);
    __syncthreads();
  }

  /// Where a slice leaves a sum.
  __device__ T& of_slice(int slice, int i) const {
    return shared_[(slice * Multiplier::sums + i) * Tiling::threads_of_slice + Tiling::place()];
  }

  /// This block's sums.
  struct OwnSums {
    MultipliedTile* tile;

    template <int groups>
    __device__ __forceinline__ void get(T (&sums)[groups * together], int first, int last) const {
#pragma unroll
      for (int j = 0; j < groups * together; ++j) {
        if constexpr (Tiling::slices == 1) {
          sums[j] = tile->multiplier_.sum(first * together + j);
        } else {
          const int i = number(first, last, j);
          sums[j] = tile->of_slice(0, i);
#pragma unroll
          for (int slice = 1; slice < Tiling::slices; ++slice) sums[j] += tile->of_slice(slice, i);
        }
      }
    }

    /// Some sums from number `first` on.
    template <int count>
    __device__ __forceinline__ void get_neighbours(T (&sums)[count], int first) const {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        if constexpr (Tiling::slices == 1) {
          sums[j] = tile->multiplier_.sum(first + j);
        } else {
          sums[j] = tile->of_slice(0, first + j);
#pragma unroll
          for (int s = 1; s < Tiling::slices; ++s) sums[j] += tile->of_slice(s, first + j);
        }
      }
    }
  };

  /// Those of all blocks that share the tile.
  struct PartSums {
    T* partials;
    int count;
    int apart = 1;  ///< from a part to the next

    __device__ T& at(int part, int i) const {
      constexpr int of_part = Multiplier::sums * Tiling::threads_of_slice;
      return partials[part * apart * of_part + i * Tiling::threads_of_slice + Tiling::place()];
    }

    template <int groups>
    __device__ __forceinline__ void get(T (&sums)[groups * together], int first, int last) const {
#pragma unroll
      for (int j = 0; j < groups * together; ++j) sums[j] = 0;
#pragma unroll 4  // so that the loads of four parts are in flight together
      for (int part = 0; part < count; ++part) {
#pragma unroll
        for (int j = 0; j < groups * together; ++j) sums[j] += at(part, number(first, last, j));
      }
    }

    /// Some sums from number `first` on.
    template <int count_>
    __device__ __forceinline__ void get_neighbours(T (&sums)[count_], int first) const {
#pragma unroll
      for (int j = 0; j < count_; ++j) sums[j] = 0;
#pragma unroll 4
      for (int part = 0; part < count; ++part) {
#pragma unroll
        for (int j = 0; j < count_; ++j) sums[j] += at(part, first + j);
      }
    }
  };

  /// Where the parts of this block's tile are.
  static __device__ PartSums parts_of(const Parts& parts) {
    return {parts.partials + static_cast<Index>(parts.tile) * parts.count * Tiling::BM * Tiling::BN,
            parts.count};
  }

  //! [is_last]
  /// Whether this block is the last to leave its part, so that it finishes the tile. With many
  /// parts, it would add them all up while the other blocks have nothing to do: so the last block
  /// of each group leaves the group's sum in place of its first part.
  static __device__ __forceinline__ bool is_last(const Parts& parts, PartSums& left) {
    unsigned* const counter = parts.counters + parts.tile;
    const int groups = groups_of_parts(parts.count);
    if (groups == 0) return is_last_block(counter, static_cast<unsigned>(parts.count));
    const int first = parts.part / parts_in_group * parts_in_group;
    const int size = parts.count - first < parts_in_group ? parts.count - first : parts_in_group;
    unsigned* const of_group =
        parts.counters + gridDim.x + parts.tile * groups + first / parts_in_group;
    if (!is_last_block(of_group, static_cast<unsigned>(size))) return false;

    constexpr int at_once = Multiplier::sums % (8 * Tiling::slices) == 0 ? 8 : 2;
    const PartSums group = {&left.at(first, 0) - Tiling::place(), size};
#pragma unroll 1
    for (int i = Tiling::slice() * at_once; i < Multiplier::sums; i += Tiling::slices * at_once) {
      T sums[at_once];
      group.get_neighbours(sums, i);
#pragma unroll
      for (int j = 0; j < at_once; ++j) group.at(0, i + j) = sums[j];
    }
    left.count = groups;
    left.apart = parts_in_group;
    return is_last_block(counter, static_cast<unsigned>(groups));
  }
  //! [is_last]

  //! [deliver]
  /// Finishes and stores some groups at a time. If the epilogue reads, all that these need is
  /// loaded before the first of them is stored, so that the loads overlap. If it does not, each
  /// group is stored at once, which leaves the compiler free to choose registers.
  template <int at_once, typename Sums, typename Epilogue>
  __device__ __forceinline__ void deliver(const Sums& from, const Epilogue& epilogue, int m,
                                          int n) {
    epilogue.with_finish([&](const auto& source, const auto& finish) {
      for_own_groups<at_once>([&]<int groups>(int first, int last) {
        constexpr bool reads_first = Epilogue::read_ahead > 0;
        constexpr int before_store = reads_first ? groups : 1;
        T sums[groups * together];
        T read[groups * together] = {};
        if constexpr (reads_first) load_source<groups>(source, epilogue, first, last, m, n, read);
        from.template get<groups>(sums, first, last);
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
  //! [deliver]

  //! [finish_groups]
  /// See finish().
  template <typename Epilogue>
  __device__ __forceinline__ void finish_groups(const Epilogue& epilogue, int m, int n,
                                                const Parts& parts) {
    if (parts.count == 1) return deliver<direct<Epilogue>>(OwnSums{this}, epilogue, m, n);
    PartSums left = parts_of(parts);
    for_own_groups<direct<Epilogue>>([&]<int groups>(int first, int last) {
      T sums[groups * together];
      OwnSums{this}.template get<groups>(sums, first, last);
#pragma unroll
      for (int j = 0; j < groups * together; ++j) {
        left.at(parts.part, number(first, last, j)) = sums[j];
      }
    });
    if (!is_last(parts, left)) return;
    deliver<in_memory<Epilogue>>(left, epilogue, m, n);
  }
  //! [finish_groups]

  //! [finish_rows]
  /// Finishes the tile for an epilogue that takes neighbours of four rows of a lane at once: see
  /// takes_four_rows.
  template <typename Epilogue>
  __device__ __forceinline__ void finish_rows(const Epilogue& epilogue, int n, const Parts& parts) {
    const auto deliver_from = [&](const auto& from) {
      for_own_rows([&](int rows, int group) {
        T sums[4][Multiplier::neighbours];
        const int first = Multiplier::number(4 * rows, group);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          from.get_neighbours(sums[r], Multiplier::number(4 * rows + r, group));
        }
        epilogue(row_of(first), column_of(first), n, sums);
      });
    };
    if (parts.count == 1) return deliver_from(OwnSums{this});
    PartSums left = parts_of(parts);
    for_own_rows([&](int rows, int group) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int first = Multiplier::number(4 * rows + r, group);
        T sums[Multiplier::neighbours];
        OwnSums{this}.get_neighbours(sums, first);
#pragma unroll
        for (int v = 0; v < Multiplier::neighbours; ++v) left.at(parts.part, first + v) = sums[v];
      }
    });
    if (!is_last(parts, left)) return;
    deliver_from(left);
  }

  /// Calls work(rows, group) for the fours of rows and groups of neighbours that this slice
  /// finishes.
  template <typename Work>
  static __device__ __forceinline__ void for_own_rows(const Work& work) {
    static_assert(Multiplier::rows % 4 == 0);
    constexpr int count = Multiplier::rows / 4 * Multiplier::groups;
    if constexpr (Tiling::slices == 1) {
#pragma unroll
      for (int i = 0; i < count; ++i) work(i / Multiplier::groups, i % Multiplier::groups);
    } else {
#pragma unroll 1
      for (int i = Tiling::slice(); i < count; i += Tiling::slices) {
        work(i / Multiplier::groups, i % Multiplier::groups);
      }
    }
  }
  //! [finish_rows]

  /// Loads what groups of sums need besides.
  template <int groups, typename Source, typename Epilogue>
  __device__ __forceinline__ void load_source(const Source& source, const Epilogue& epilogue,
                                              int first, int last, int m, int n, T* read) const {
    if constexpr (!std::is_same_v<Source, NoSource>) {
#pragma unroll
      for (int group = 0; group < groups; ++group) {
        const int i = number(first, last, group * together);
        const int row = row_of(i);
        const T* const from = row < m ? source(row) : nullptr;
        if (from == nullptr) continue;
        load_neighbours<together>(from, column_of(i), n, epilogue.vectors, read + group * together);
      }
    }
  }

  /// Where sum number `i` is in C.
  __device__ int row_of(int i) const {
    return tile_.top + Multiplier::row(i);
  }
  /// See above.
  __device__ int column_of(int i) const {
    return tile_.left + Multiplier::column(i);
  }

  T* shared_;
  TilePlace tile_;
  Multiplier multiplier_;
};

}  // namespace stagewise::shared_memory
