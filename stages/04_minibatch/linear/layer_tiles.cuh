/// @file
/// The tiles in which layers are multiplied: stage 03's, as far as layers need them.
///
/// Each kind of factor, each epilogue and each tile makes another kernel, so the tables are
/// short. They were picked from those of stage 03's rungs 12 and 13 by the same estimate of time
/// (tiles/choose_tile.cu), for layers of 10 to 1,000 units and batches of 32 to 10,000 rows: what
/// is left out costs less than a tenth. New are, for floats, a tile with slices of k for all warps,
/// for weights of which the whole GPU can have one tile each, and 80 x 64; for doubles, tiles for
/// halves to quarters of a layer or of a batch, as the ranks of a distributed training have them.
/// They have a multiple of four warps, since a multiprocessor has four parts that issue
/// instructions. Some are good at the gradients of weights only, so these have a table of their own
/// (benchmarks/results/h200_layer_tiles.md).
#pragma once

#include <type_traits>

#include "03_shared_memory/tiles/fma.cuh"
#include "03_shared_memory/tiles/kernel.cuh"
#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/tiles/mma_double.cuh"

namespace stagewise::minibatch {

using shared_memory::Fma;
using shared_memory::is_aligned;
using shared_memory::LayerTable;
using shared_memory::MmaDouble;
using shared_memory::RatedTile;
using shared_memory::StridedMatrix;

/// The tables for a type of numbers.
template <typename T>
struct LayerTiles;

template <>
struct LayerTiles<float> {
  // rate, BM, BN, BK, WM, WN, slice-k, buffers, blocks
  using Vectors = LayerTable<
      Fma, RatedTile<110, 128, 128, 8, 32, 64, 1, 4, 1>, RatedTile<92, 80, 80, 32, 80, 40, 4, 3, 1>,
      RatedTile<100, 80, 64, 16, 40, 32, 1, 3, 3>, RatedTile<95, 64, 64, 16, 32, 32, 1, 4, 3>,
      RatedTile<95, 24, 64, 128, 24, 64, 8, 4, 1>, RatedTile<100, 32, 64, 32, 32, 32, 4, 4, 2>,
      RatedTile<91, 32, 32, 32, 32, 32, 4, 4, 2>, RatedTile<61, 16, 16, 64, 16, 16, 8, 4, 2>>;
  /// Where a factor is copied scalar by scalar.
  using Scalars = LayerTable<Fma, RatedTile<77, 64, 64, 16, 32, 32, 1, 4, 3>,
                             RatedTile<65, 32, 32, 32, 32, 32, 4, 4, 2>,
                             RatedTile<45, 16, 16, 64, 16, 16, 8, 4, 2>>;
  /// Like Vectors, for the gradients of weights.
  using Gradients = Vectors;
};

template <>
struct LayerTiles<double> {
  using Vectors = LayerTable<
      MmaDouble, RatedTile<130, 128, 128, 16, 64, 32, 1, 3, 1>,
      RatedTile<135, 64, 104, 16, 16, 104, 2, 4, 1>, RatedTile<130, 128, 56, 16, 32, 56, 2, 4, 1>,
      RatedTile<123, 64, 64, 16, 32, 32, 1, 3, 3>, RatedTile<130, 64, 56, 16, 16, 56, 2, 4, 1>,
      RatedTile<130, 48, 56, 32, 16, 56, 4, 3, 1>, RatedTile<130, 32, 56, 32, 16, 56, 4, 4, 1>,
      RatedTile<130, 32, 64, 32, 32, 32, 4, 4, 1>, RatedTile<121, 32, 32, 32, 32, 32, 4, 4, 3>,
      RatedTile<140, 16, 16, 64, 16, 16, 8, 5, 2>>;
  using Scalars = LayerTable<MmaDouble, RatedTile<91, 64, 64, 16, 32, 32, 1, 3, 2>,
                             RatedTile<90, 32, 32, 32, 32, 32, 4, 4, 2>,
                             RatedTile<110, 16, 16, 64, 16, 16, 8, 5, 2>>;
  using Gradients = LayerTable<
      MmaDouble, RatedTile<130, 128, 128, 16, 64, 32, 1, 3, 1>,
      RatedTile<135, 64, 104, 16, 16, 104, 2, 4, 1>, RatedTile<136, 64, 128, 16, 32, 32, 1, 3, 1>,
      RatedTile<130, 32, 104, 32, 16, 104, 4, 3, 1>, RatedTile<130, 64, 56, 16, 16, 56, 2, 4, 1>,
      RatedTile<115, 48, 56, 32, 16, 56, 4, 3, 1>, RatedTile<130, 32, 56, 32, 16, 56, 4, 4, 1>,
      RatedTile<130, 32, 64, 32, 32, 32, 4, 4, 1>, RatedTile<121, 32, 32, 32, 32, 32, 4, 4, 3>,
      RatedTile<140, 16, 16, 64, 16, 16, 8, 5, 2>>;
};

/// Calls `multiply(a, b)` with factors that are copied in vectors where they have them, or scalar
/// by scalar.
/// @param make_a,make_b make a factor for a length of copies, their template argument.
template <typename T, typename MakeA, typename MakeB, typename Multiply>
void with_lengths(bool a_has_vectors, bool b_has_vectors, const MakeA& make_a, const MakeB& make_b,
                  const Multiply& multiply) {
  constexpr int vector = shared_memory::Vector<T>::length;
  const auto with = [&]<int a, int b>() {
    multiply(make_a.template operator()<a>(), make_b.template operator()<b>());
  };
  if (!a_has_vectors) return with.template operator()<1, 1>();
  if (!b_has_vectors) return with.template operator()<vector, 1>();
  with.template operator()<vector, vector>();
}

//! [multiply_layer]
/// C = epilogue(op(A) op(B)) in the tiles that suit it.
/// @tparam Vectors the table for factors that are copied in vectors.
/// @param a,b see shared_memory::Matrix.
/// @param a_is_independent,prologue see shared_memory::tile_kernel().
template <typename T, typename Vectors = typename LayerTiles<T>::Vectors, typename MatrixA,
          typename MatrixB, typename Epilogue, typename Prologue = shared_memory::NoPrologue>
void multiply_layer(cudaStream_t stream, const shared_memory::ProductSize& size, const MatrixA& a,
                    const MatrixB& b, const Epilogue& epilogue, Workspace& workspace,
                    bool a_is_independent = false, const Prologue& prologue = {}) {
  constexpr bool have_vectors = MatrixA::length > 1 && MatrixB::length > 1;
  using Table = std::conditional_t<have_vectors, Vectors, typename LayerTiles<T>::Scalars>;
  Table::template with_choice<T>(size, [&]<typename Tile>(Tile /*tile*/, int split_k) {
    shared_memory::launch_tiles<Tile>(stream, size, a, b, epilogue, split_k, workspace,
                                      a_is_independent, prologue);
  });
}
//! [multiply_layer]

}  // namespace stagewise::minibatch
