/// @file
/// The map of this folder: one loop, with which this stage's default products and convolutions
/// are multiplied, and stage 04's layers but for a small last one.
///
///       global memory            shared memory           registers
///
///     A --- Copies --+                                                          Epilogue
///                    +--> Pipeline: `buffers` k tiles --> Mma: sums --> finish ----------> C
///     B --- Copies --+      one is multiplied, the                      slice-k, split-k
///                           others are under way
///
/// A block computes a tile of C, BM x BN. It steps along k, BK steps at a time: a **k tile** has
/// BM x BK numbers of A and BK x BN of B. Its warps divide the tile, WM x WN each; if that leaves
/// warps without work, they divide the steps of a k tile, too (**slice-k**), and if it leaves
/// multiprocessors without, several blocks share a tile, each with a part of k (**split-k**).
///
/// To be read in this order:
///
///     kernel.cuh         what a block does, with a ring of buffers, and how it is launched
///     this file          the sizes of a tile, which block has which, and tables of them
///     matrix.cuh         a factor in memory, a thread's copies of it, and where they go
///     offset_copies.cuh  ... and of windows of images
///     fma.cuh            who multiplies what: threads of their own, or ...
///     mma_double.cuh     ... tensor cores
///     finish.cuh         what becomes of the sums: added up, through an epilogue, and stored
///     alpha_beta.cuh     the epilogue of a matrix product; stage 04's layers have others
///     split_k.cuh        how blocks that share a tile add up
///     choose_tile.cu     which tile suits a product
///
/// What has a concept, below, can be replaced by another type that satisfies it. Rows of op(A) and
/// columns of op(B) are treated alike, and both are called rows.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <tuple>

#include <cuda_runtime.h>

#include "03_shared_memory/tiles/choose_tile.hpp"
#include "cuda/compiled_entries.hpp"

namespace stagewise::shared_memory {

/// A block's tile of BM x BN, divided into warp tiles of WM x WN. If C has too few tiles for all
/// warps, several groups of warps compute the whole tile, each for some of the BK steps that are in
/// shared memory, and at the end their sums are added up.
/// @tparam slice_k_ how many groups there are.
/// @tparam buffers_ how many k tiles of a factor are in shared memory.
/// @tparam blocks_ how many blocks have room on a multiprocessor.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int slice_k_, int buffers_, int blocks_>
struct Tile {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = BK_;
  static constexpr int WM = WM_;
  static constexpr int WN = WN_;
  static constexpr int slice_k = slice_k_;
  static constexpr int buffers = buffers_;
  static constexpr int blocks = blocks_;
  static constexpr int depth = BK / slice_k;  ///< steps of a k tile that are a slice's
  static constexpr int slice_threads = 32 * (BM / WM) * (BN / WN);
  static constexpr int threads = slice_threads * slice_k;

  static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles must fill the block's");
  static_assert(BK % slice_k == 0 && buffers >= 2);

  /// This thread's slice.
  static __device__ int slice() {
    return slice_k == 1 ? 0 : static_cast<int>(threadIdx.x / slice_threads);
  }

  /// Its index among the threads of the slice.
  static __device__ int slice_thread() {
    return static_cast<int>(slice_k == 1 ? threadIdx.x : threadIdx.x % slice_threads);
  }

  /// The row of the block's tile at which its warp's begins.
  static __device__ int warp_row() { return warp() / warps_across * WM; }
  /// Likewise, the column.
  static __device__ int warp_column() { return warp() % warps_across * WN; }

 private:
  static constexpr unsigned warps_across = BN / WN;
  static __device__ unsigned warp() { return threadIdx.x % slice_threads / 32; }
};

/// Where a tile of C is.
struct TilePosition {
  int top;   ///< its first row
  int left;  ///< its first column
};

/// The order of C's tiles, in which neighbours share data: down eight rows of tiles, then on to the
/// next column.
template <typename Tile>
struct TileOrder {
  int m;
  int n;

  /// How many there are below one another, and side by side; m and n are at least 1.
  __host__ __device__ int down() const { return (m - 1) / Tile::BM + 1; }
  /// See above.
  __host__ __device__ int across() const { return (n - 1) / Tile::BN + 1; }
  /// How many there are.
  __host__ __device__ Index count() const { return Index{down()} * across(); }

  /// Where a tile is.
  __device__ TilePosition at(int tile) const {
    constexpr int height = 8;
    const int first = tile / (height * across()) * height;
    const int in_band = down() - first < height ? down() - first : height;
    const int rest = tile % (height * across());
    return {(first + rest % in_band) * Tile::BM, rest / in_band * Tile::BN};
  }
};

/// Whether an Mma reads vectors of steps, where the steps of a row are stored together. It has them
/// in registers until it has multiplied all of them, four times as many scalars as it needs for
/// one; for both factors, there are not registers enough. Then one of them should be transposed.
template <template <typename, typename, typename> class MmaOf>
inline constexpr bool keeps_vectors_of_steps = false;

/// An entry of a table: a Tile, and its rates; see TileInfo. Where a rate is 0, no kernel is
/// compiled.
template <int rate_, int rate_of_scalars_, int... sizes>
struct TwiceRatedTile : Tile<sizes...> {
  static constexpr int rate = rate_;
  static constexpr int rate_of_scalars = rate_of_scalars_;
};

/// An entry of a table for factors that are all copied in the same way.
template <int rate, int... sizes>
using RatedTile = TwiceRatedTile<rate, rate, sizes...>;

/// An entry, and what multiplies in it.
template <template <typename, typename, typename> class MmaOf, typename Entry>
struct TableTile : Entry {
  /// For k tiles of A and of B in shared memory.
  template <typename TileA, typename TileB>
  using Mma = MmaOf<Entry, TileA, TileB>;
};

/// What choose_tile() has to know of an entry.
template <typename T, typename Entry>
constexpr TileInfo describe_tile() {
  constexpr int size = sizeof(T);
  constexpr int padding = 2 * 32;  // bytes of a step, in the layout that takes more
  constexpr int pipeline = Entry::buffers * Entry::BK * ((Entry::BM + Entry::BN) * size + padding);
  constexpr int sums = Entry::slice_k > 1 ? Entry::slice_k * Entry::BM * Entry::BN * size : 0;
  return {Entry::BM,
          Entry::BN,
          Entry::BK,
          Entry::slice_k,
          Entry::buffers,
          Entry::blocks,
          Entry::BM * Entry::BN / Entry::threads,
          size,
          std::max(pipeline, sums),
          Entry::rate,
          Entry::rate_of_scalars};
}

/// The sizes of a product: C is m x n, m and n at least 1, with k steps.
struct ProductSize {
  Index m;
  Index n;
  Index k;
};

template <template <typename, typename, typename> class MmaOf, typename Entries>
struct CompiledTable;

/// A table of tiles, from which each product gets the one that suits it.
/// @tparam MmaOf what multiplies; see Mma.
template <template <typename, typename, typename> class MmaOf, typename... Entries>
using TileTable = CompiledTable<MmaOf, typename cuda::CompiledEntries<3, Entries...>::Type>;

/// The same for layers and convolutions: they have several tables, so only two tiles of each are
/// compiled for the CPU.
template <template <typename, typename, typename> class MmaOf, typename... Entries>
using LayerTable = CompiledTable<MmaOf, typename cuda::CompiledEntries<2, Entries...>::Type>;

template <template <typename, typename, typename> class MmaOf, typename... Entries>
struct CompiledTable<MmaOf, std::tuple<Entries...>> {
  /// Whether B's k tiles are transposed if memory runs along k in both factors.
  static constexpr bool transposes_b = keeps_vectors_of_steps<MmaOf>;

  /// The table as choose_tile() wants it.
  template <typename T>
  static constexpr auto tiles = std::to_array<TileInfo>({describe_tile<T, Entries>()...});

  /// Calls work(tile) with the tile of an index.
  template <typename Work>
  static void with(std::size_t index, const Work& work) {
    std::size_t i = 0;
    ((i++ == index ? work(TableTile<MmaOf, Entries>()) : void()), ...);
  }

  /// Calls work(tile, split_k) with what suits a product.
  template <typename T, typename Work>
  static void with_choice(const ProductSize& size, const Work& work) {
    const TileChoice choice = remembered_choice(tiles<T>, size.m, size.n, size.k);
    with(choice.tile, [&](auto tile) { work(tile, choice.split_k); });
  }
};

/// The sizes of a tile: see Tile; with what multiplies in it: see TableTile.
template <typename C>
concept TileConfig = requires {
  { C::BM + C::BN + C::BK + C::WM + C::WN } -> std::convertible_to<int>;
  { C::slice_k + C::buffers + C::blocks } -> std::convertible_to<int>;
};

/// A factor: where its elements are. Its Copies bring `extent` rows and BK steps to shared memory,
/// with the threads of a block: see MatrixCopies.
template <typename M>
concept Matrix = requires {
  typename M::Scalar;
  { M::k_major } -> std::convertible_to<bool>;  ///< whether neighbours in memory differ in step
  { M::is_transposed } -> std::convertible_to<bool>;  ///< whether k tiles are; see SwizzledTile
  { M::length } -> std::convertible_to<int>;          ///< how many neighbours are copied at once
  typename M::template Copies<64, 16, 128>;
};

/// A thread's copies of a factor.
template <typename C, typename M>
concept MatrixCopies = requires(C copies, const M& matrix, typename M::Scalar* buffer, int i) {
  typename C::Tile;                          ///< how a k tile is stored
  { C::count } -> std::convertible_to<int>;  ///< copies of a k tile
  copies.start(matrix, i, i);                ///< begins at a row, and at a step
  copies.copy(buffer, matrix, i, i);         ///< copy number i, from the steps that are left
  copies.advance(matrix);                    ///< moves on to the next k tile
};

/// Which instruction multiplies. A lane loads its fragments in rounds, one round ahead of
/// multiplying them, into one of two sets of registers. It has `sums` sums: `rows` rows, in each of
/// which there are `groups` groups of `neighbours`.
template <typename M, typename T>
concept Mma = requires(M mma, const T* a, const T* b, int i) {
  { M::rounds + M::sums + M::neighbours + M::rows + M::groups } -> std::convertible_to<int>;
  mma.load(i, a, b);  ///< the fragments of a round; round `rounds` is the next k tile's first
  mma.multiply(i);
  { mma.sum(i) } -> std::same_as<T&>;
  { M::row(i) + M::column(i) } -> std::convertible_to<int>;  ///< of sum i, in the block's tile
  { M::first_sum(i, i) } -> std::convertible_to<int>;        ///< of a row's group
};

/// What becomes of a sum: see finish.cuh.
template <typename E>
concept Epilogue = requires(const E& epilogue) {
  { epilogue.vectors } -> std::convertible_to<bool>;  ///< whether 16 bytes are stored at a time
  { E::read_ahead } -> std::convertible_to<int>;      ///< scalars that are loaded at once
};

/// What a block does while its first copies are under way: see NoPrologue.
template <typename P>
concept Prologue = requires(const P& prologue) {
  prologue.template run<128>(0, 0);
};

}  // namespace stagewise::shared_memory
