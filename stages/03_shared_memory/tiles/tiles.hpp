/// @file
/// The map of this folder: one loop, with which this stage's default products and convolutions and
/// all of stage 04's layers are multiplied.
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
///     kernel.cuh           what a block does, and how it is launched
///     tile.cuh             the sizes of a tile, and which block has which
///     pipeline.cuh         buffers: when what is copied, and when it is there
///     matrix.cuh           a factor in memory, and ...
///     strided_copies.cuh   ... a thread's copies of it (offset_copies.cuh: of windows of images)
///     k_tile.cuh           where they go: no bank conflicts
///     fma.cuh              who multiplies what: threads of their own, or ...
///     mma_double.cuh       ... tensor cores (mma_sums.cuh: where their sums are)
///     finish.cuh           what becomes of the sums: slices and blocks add theirs up
///     epilogue.cuh         what is stored: alpha sum + beta C, or, in stage 04, more
///     choose_tile.cu       which tile suits a product
///     table.cuh            the tiles that are compiled
///
/// Any part can be replaced by one that satisfies its concept below. Rows of op(A) and columns of
/// op(B) are treated alike, and both are called rows.
#pragma once

#include <concepts>

namespace stagewise::shared_memory {

//! [concepts]
/// The sizes of a tile: see Tile.
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

/// What becomes of a sum: see epilogue.cuh.
template <typename E>
concept Epilogue = requires(const E& epilogue) {
  { epilogue.vectors } -> std::convertible_to<bool>;  ///< whether 16 bytes are stored at a time
}
&&(
    requires { E::four_rows; } ||
    requires(const E& epilogue) {
      { E::read_ahead } -> std::convertible_to<int>;
      epilogue.row(0);
    });

/// What a block does while its first copies are under way: see NoPrologue.
template <typename P>
concept Prologue = requires(const P& prologue) {
  prologue.template run<128>(0, 0);
};
//! [concepts]

}  // namespace stagewise::shared_memory
