/// @file
/// The loop that rungs 11 to 13 of the GEMM ladder share.
///
/// It is a template, parameterized by how a factor is loaded (loader.cuh), how its pieces get into
/// shared memory (copies.cuh), who computes what (tiling.cuh), and what happens to a finished
/// element (epilogue.cuh).
#pragma once

#include "03_shared_memory/gemm/copies.cuh"
#include "03_shared_memory/gemm/epilogue.cuh"
#include "03_shared_memory/gemm/tiling.cuh"

namespace stagewise::shared_memory {

/// The shared memory of a block: a few k tiles of each factor, one that is being multiplied and
/// others that are being filled.
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB>
struct KTiles {
  using A = typename KTileFor<Copies, T, LoaderA, Tiling::BM, Tiling::BK>::Type;
  using B = typename KTileFor<Copies, T, LoaderB, Tiling::BN, Tiling::BK>::Type;
  A a[stages];
  B b[stages];
};

//! [fragment]
/// A thread's elements of a k tile, for a few steps; `place(i)` says where its i-th element is.
/// From a k tile, a vector holds neighbouring elements of one step; from a row k tile, one element
/// of neighbouring steps.
template <typename T, typename KTile, int count>
class Fragment;

template <typename T, int extent, int BK, int count>
class Fragment<T, KTile<T, extent, BK>, count> {
 public:
  /// Nothing: each step is loaded by itself.
  template <typename Place>
  __device__ void begin(const KTile<T, extent, BK>& /*k_tile*/, int /*step*/, Place /*place*/) {}

  /// Loads this thread's elements of a step.
  template <typename Place>
  __device__ void load(const KTile<T, extent, BK>& k_tile, int step, Place place) {
#pragma unroll
    for (int i = 0; i < count / length; ++i) {
      vectors_[i] = *reinterpret_cast<const Vector<T>*>(&k_tile.values[step][place(i * length)]);
    }
  }

  /// Element number `i` of the step that was loaded.
  __device__ T value(int i, int /*step*/) const {
    return vectors_[i / length].values[i % length];
  }

 private:
  static constexpr int length = Vector<T>::length;
  Vector<T> vectors_[count / length];
};

template <typename T, int extent, int BK, int count>
class Fragment<T, RowKTile<T, extent, BK>, count> {
 public:
  /// Loads this thread's elements of the steps of a vector, which begins at `step`.
  template <typename Place>
  __device__ void begin(const RowKTile<T, extent, BK>& k_tile, int step, Place place) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      vectors_[i] = *reinterpret_cast<const Vector<T>*>(k_tile.at(place(i), step));
    }
  }

  /// Nothing: begin() has loaded the step.
  template <typename Place>
  __device__ void load(const RowKTile<T, extent, BK>& /*k_tile*/, int /*step*/, Place /*place*/) {}

  /// Element number `i`, `step` steps after the first of the vector.
  __device__ T value(int i, int step) const {
    return vectors_[i].values[step];
  }

 private:
  Vector<T> vectors_[count];
};
//! [fragment]

/// A thread's sums.
template <typename T, typename Tiling>
struct Sums {
  T values[Tiling::TM][Tiling::TN];
};

//! [outer_products]
/// Adds the product of two k tiles: for each step, the outer product of this thread's elements.
template <typename T, typename Tiling, typename KTileA, typename KTileB>
__device__ void add_products(const KTileA& a, const KTileB& b, Sums<T, Tiling>& sums) {
  const auto row = [](int i) { return Tiling::row(i); };
  const auto column = [](int j) { return Tiling::column(j); };
  // Not unrolled completely: short products would spend their time fetching instructions.
#pragma unroll 2
  for (int first = 0; first < Tiling::BK; first += Tiling::group) {
    Fragment<T, KTileA, Tiling::TM> of_a;
    Fragment<T, KTileB, Tiling::TN> of_b;
    of_a.begin(a, first, row);
    of_b.begin(b, first, column);
#pragma unroll
    for (int step = 0; step < Tiling::group; ++step) {
      of_a.load(a, first + step, row);
      of_b.load(b, first + step, column);
#pragma unroll
      for (int i = 0; i < Tiling::TM; ++i) {
#pragma unroll
        for (int j = 0; j < Tiling::TN; ++j) {
          sums.values[i][j] += of_a.value(i, step) * of_b.value(j, step);
        }
      }
    }
  }
}
//! [outer_products]

//! [main_loop]
/// sums = the block's tile of op(A) op(B), over k tiles `begin` to `end` - 1 along k. All threads
/// of the block call it.
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB>
__device__ void multiply(KTiles<Copies, stages, T, Tiling, LoaderA, LoaderB>& k_tiles,
                         const LoaderA& a, const LoaderB& b, TilePlace tile, int begin, int end,
                         Sums<T, Tiling>& sums) {
  using Shared = KTiles<Copies, stages, T, Tiling, LoaderA, LoaderB>;
  using CopiesA = Copies<T, typename Shared::A, LoaderA, Tiling::threads>;
  using CopiesB = Copies<T, typename Shared::B, LoaderB, Tiling::threads>;
  CopiesA copies_a;
  CopiesB copies_b;
  copies_a.start(a, tile.top);
  copies_b.start(b, tile.left);
  // Past the end, zeros are loaded: with an `if`, the compiler might move the loads down to where
  // they are stored, and nothing would be in flight during the multiplications.
  const auto fetch = [&](int k_tile, int stage) {
    const int step = k_tile < end ? k_tile * Tiling::BK : beyond;
    copies_a.fetch(k_tiles.a[stage], a, step);
    copies_b.fetch(k_tiles.b[stage], b, step);
    CopiesA::commit();
  };
  const auto put = [&](int stage) {
    copies_a.put(k_tiles.a[stage], a);
    copies_b.put(k_tiles.b[stage], b);
  };

  sums = {};
#pragma unroll
  for (int stage = 0; stage + 1 < stages; ++stage) {
    fetch(begin + stage, stage);
    put(stage);
  }
  int now = 0;
  int next = stages - 1;
  for (int k_tile = begin; k_tile < end; ++k_tile) {
    CopiesA::wait();
    __syncthreads();  // this k tile is complete, and no thread reads the one to be filled next
    fetch(k_tile + stages - 1, next);
    add_products<T, Tiling>(k_tiles.a[now], k_tiles.b[now], sums);
    put(next);
    now = now + 1 < stages ? now + 1 : 0;
    next = next + 1 < stages ? next + 1 : 0;
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // from here on, the k tiles may be reused
}
//! [main_loop]

/// Passes this thread's finished sums to the epilogue, and stores the results.
template <typename T, typename Tiling, typename Epilogue>
__device__ void finish_tile(const Epilogue& epilogue, TilePlace tile, int m, int n,
                            const Sums<T, Tiling>& sums) {
  constexpr int group = Tiling::group;
#pragma unroll
  for (int i = 0; i < Tiling::TM; ++i) {
    const int row = tile.top + Tiling::row(i);
    if (row >= m) continue;
    T* const out = epilogue.row(row);
#pragma unroll
    for (int j = 0; j < Tiling::TN; j += group) {
      const int column = tile.left + Tiling::column(j);
      if (epilogue.vectors && column < n) {
        Vector<T> results;
#pragma unroll
        for (int v = 0; v < group; ++v) {
          results.values[v] = epilogue(row, column + v, sums.values[i][j + v]);
        }
        *reinterpret_cast<Vector<T>*>(out + column) = results;
      } else {
#pragma unroll
        for (int v = 0; v < group; ++v) {
          if (column + v >= n) continue;
          out[column + v] = epilogue(row, column + v, sums.values[i][j + v]);
        }
      }
    }
  }
}

}  // namespace stagewise::shared_memory
