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
///     static constexpr int neighbours;  // so many sums, from a multiple on, are neighbours in a
///     row T& sum(int i); int row(int i);                   // where a sum is in the block's tile
///     int column(int i);
///
/// Fragments are loaded one round ahead, into one of two sets of registers. Round number `rounds`
/// is the first of the next k tile.
///
/// Sums that go to other threads are moved one by one. As vectors, they would have to be in
/// neighbouring registers, and the compiler could no longer choose a register for each such that
/// the operands of a multiplication are in different banks.
#pragma once

#include "03_shared_memory/gemm/epilogue.cuh"
#include "03_shared_memory/gemm/pipeline.cuh"
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

  /// The shared memory that a block needs.
  static constexpr int bytes() {
    constexpr int others = (Tiling::slices - 1) * Tiling::BM * Tiling::BN;
    return static_cast<int>(sizeof(T)) * (Stages::elements > others ? Stages::elements : others);
  }

  /// @param shared bytes() bytes.
  __device__ MultipliedTile(T* shared, TilePlace tile) : shared_(shared), tile_(tile) {}

  //! [multiply_tile]
  /// Adds up steps `begin` to `end` - 1; `begin` is a multiple of BK.
  __device__ void multiply(const MatrixA& a, const MatrixB& b, int begin, int end) {
    Stages pipeline(shared_, a, b, tile_, begin, end);
    pipeline.fill();
    multiply_k_tiles(pipeline);
  }
  //! [multiply_tile]

  /// The same, with something to do at the beginning; see Pipeline::fill().
  template <typename Wait, typename Meanwhile>
  __device__ void multiply(const MatrixA& a, const MatrixB& b, int begin, int end,
                           const Wait& wait_for_b, const Meanwhile& meanwhile) {
    Stages pipeline(shared_, a, b, tile_, begin, end);
    pipeline.fill(wait_for_b, meanwhile);
    multiply_k_tiles(pipeline);
  }

  //! [add_slices]
  /// Adds up the slices; each slice then has a part of the results.
  __device__ void add_slices() {
    if constexpr (Tiling::slices > 1) {
      const int slice = Tiling::slice();
      __syncthreads();
#pragma unroll
      for (int i = 0; i < Multiplier::sums; ++i) {
        if (owner_of(i) != slice) partial(i, slice) = multiplier_.sum(i);
      }
      __syncthreads();
      each_own_sum([&](int i) {
#pragma unroll
        for (int other = 1; other < Tiling::slices; ++other) {
          multiplier_.sum(i) += partial(i, (slice + other) % Tiling::slices);
        }
      });
    }
  }
  //! [add_slices]

  //! [add_parts]
  /// If several blocks share the tile's k tiles: leaves this block's sums in `partials`. The last
  /// block to do so adds up those of all, always in the same order.
  /// @param partials room for the `parts` parts of a tile, each as large as the tile.
  /// @param counter 0 before and after; counts the blocks that have left their sums.
  /// @return whether this block is the last; the same for all of its threads.
  __device__ bool add_parts(T* partials, unsigned* counter, int part, int parts) {
    const auto left = [&](int by, int i) -> T& {
      constexpr int of_part = Multiplier::sums * Tiling::threads_of_slice;
      return partials[by * of_part + i * Tiling::threads_of_slice + Tiling::place()];
    };
    each_own_sum([&](int i) { left(part, i) = multiplier_.sum(i); });
    if (!is_last_block(counter, static_cast<unsigned>(parts))) return false;
    each_own_sum([&](int i) { multiplier_.sum(i) = 0; });
#pragma unroll 4  // so that the loads of four parts are in flight together
    for (int other = 0; other < parts; ++other) {
      each_own_sum([&](int i) { multiplier_.sum(i) += left(other, i); });
    }
    return true;
  }
  //! [add_parts]

  /// Passes the sums to the epilogue, and stores the results.
  template <typename Epilogue>
  __device__ void finish(const Epilogue& epilogue, int m, int n) {
    each_own_group([&](int i) {
      const int row = tile_.top + multiplier_.row(i);
      const int column = tile_.left + multiplier_.column(i);
      if (row >= m || column >= n) return;
      T* const out = epilogue.row(row) + column;
      const auto result = [&](int j) { return epilogue(row, column + j, multiplier_.sum(i + j)); };
      if (epilogue.vectors) {
        Vector<T, together> results;
#pragma unroll
        for (int j = 0; j < together; ++j) results.values[j] = result(j);
        *reinterpret_cast<Vector<T, together>*>(out) = results;
      } else {
#pragma unroll
        for (int j = 0; j < together; ++j) {
          if (column + j < n) out[j] = result(j);
        }
      }
    });
  }

 private:
  //! [multiply_k_tiles]
  /// Multiplies all k tiles of a pipeline that is filled.
  __device__ __forceinline__ void multiply_k_tiles(Stages& pipeline) {
    multiplier_.load(0, pipeline.a(), pipeline.b());
    while (pipeline.has_k_tile()) multiply_k_tile(pipeline);
    pipeline.drain();
  }
  //! [multiply_k_tiles]

  //! [multiply_k_tile]
  /// Multiplies a k tile, whose first fragments must be loaded; at the end, those of the next are.
  __device__ __forceinline__ void multiply_k_tile(Stages& pipeline) {
    constexpr int rounds = Multiplier::rounds;
    static_assert(rounds % 2 == 0, "each k tile must begin with the same registers");
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      if (i + 1 == rounds) pipeline.advance();
      multiplier_.load(i + 1, pipeline.a(), pipeline.b());
      if (i + 1 < rounds) pipeline.template copy<rounds - 1>(i);
      multiplier_.multiply(i);
    }
  }
  //! [multiply_k_tile]

  /// How many sums are stored together: neighbours in a row, unless that leaves slices without any.
  static constexpr int together = Multiplier::sums % (Multiplier::neighbours * Tiling::slices) == 0
                                      ? Multiplier::neighbours
                                      : 2;

  /// Which slice finishes a sum.
  static __device__ constexpr int owner_of(int i) {
    return i / together * Tiling::slices / (Multiplier::sums / together);
  }

  /// Calls work(i) for the first sum of each group that this thread finishes. There is one branch
  /// for all of them, not one for each: so their loads are in flight together.
  template <typename Work>
  __device__ __forceinline__ void each_own_group(const Work& work) {
#pragma unroll
    for (int slice = 0; slice < Tiling::slices; ++slice) {
      if (slice != Tiling::slice()) continue;
#pragma unroll
      for (int i = 0; i < Multiplier::sums; i += together) {
        if (owner_of(i) == slice) work(i);
      }
    }
  }

  /// Likewise for every sum.
  template <typename Work>
  __device__ __forceinline__ void each_own_sum(const Work& work) {
    each_own_group([&](int first) {
#pragma unroll
      for (int j = 0; j < together; ++j) work(first + j);
    });
  }

  /// Where a slice leaves a sum for the slice that finishes it.
  __device__ T& partial(int i, int from) const {
    const int room = from > owner_of(i) ? from - 1 : from;  // the owner leaves none
    return shared_[(room * Multiplier::sums + i) * Tiling::threads_of_slice + Tiling::place()];
  }

  T* shared_;
  TilePlace tile_;
  Multiplier multiplier_;
};

}  // namespace stagewise::shared_memory
