/// @file
/// The tiles in which layers are multiplied: stage 03's, as far as layers need them.
///
/// Each kind of factor, each epilogue and each tiling makes another kernel, so the tables are
/// short. They were picked from those of stage 03's rungs 14 and 15 by the same estimate of time
/// (gemm/tile_plan.hpp), for layers of 10 to 1,000 units and batches of 32 to 10,000 rows: what is
/// left out costs less than a tenth. New are, for floats, a tile with slices of k for all warps,
/// for weights of which the whole GPU can have one tile each, and 80 x 64; for doubles, tiles for
/// halves to quarters of a layer or of a batch, as the ranks of a distributed training have them.
/// They have a multiple of four warps, since a multiprocessor has four parts that issue
/// instructions. Some are good at the gradients of weights only, so these have a table of their own
/// (benchmarks/results/h200_layer_tiles.md).
#pragma once

#include <type_traits>

#include "03_shared_memory/gemm/fma_threads.cuh"
#include "03_shared_memory/gemm/mma_double.cuh"
#include "03_shared_memory/gemm/tile_table.cuh"

namespace stagewise::minibatch {

using shared_memory::FmaThreads;
using shared_memory::MmaDouble;
using shared_memory::RatedTiling;
using shared_memory::TilingTable;

/// The tables for a type of numbers.
template <typename T>
struct LayerTiles;

//! [layer_tiles]
template <>
struct LayerTiles<float> {
  // rate, BM, BN, BK, WM, WN, slices, stages, blocks
  using Vectors = TilingTable<
      FmaThreads, RatedTiling<110, 128, 128, 8, 32, 64, 1, 4, 1>,
      RatedTiling<92, 80, 80, 32, 80, 40, 4, 3, 1>, RatedTiling<100, 80, 64, 16, 40, 32, 1, 3, 3>,
      RatedTiling<95, 64, 64, 16, 32, 32, 1, 4, 3>, RatedTiling<95, 24, 64, 128, 24, 64, 8, 4, 1>,
      RatedTiling<100, 32, 64, 32, 32, 32, 4, 4, 2>, RatedTiling<91, 32, 32, 32, 32, 32, 4, 4, 2>,
      RatedTiling<61, 16, 16, 64, 16, 16, 8, 4, 2>>;
  /// Where a factor is copied number by number.
  using Scalars = TilingTable<FmaThreads, RatedTiling<77, 64, 64, 16, 32, 32, 1, 4, 3>,
                              RatedTiling<65, 32, 32, 32, 32, 32, 4, 4, 2>,
                              RatedTiling<45, 16, 16, 64, 16, 16, 8, 4, 2>>;
  /// Like Vectors, for the gradients of weights.
  using Gradients = Vectors;
};

template <>
struct LayerTiles<double> {
  using Vectors = TilingTable<
      MmaDouble, RatedTiling<130, 128, 128, 16, 64, 32, 1, 3, 1>,
      RatedTiling<135, 64, 104, 16, 16, 104, 2, 4, 1>,
      RatedTiling<130, 128, 56, 16, 32, 56, 2, 4, 1>, RatedTiling<123, 64, 64, 16, 32, 32, 1, 3, 3>,
      RatedTiling<130, 64, 56, 16, 16, 56, 2, 4, 1>, RatedTiling<130, 48, 56, 32, 16, 56, 4, 3, 1>,
      RatedTiling<130, 32, 56, 32, 16, 56, 4, 4, 1>, RatedTiling<130, 32, 64, 32, 32, 32, 4, 4, 1>,
      RatedTiling<121, 32, 32, 32, 32, 32, 4, 4, 3>, RatedTiling<140, 16, 16, 64, 16, 16, 8, 5, 2>>;
  using Scalars = TilingTable<MmaDouble, RatedTiling<91, 64, 64, 16, 32, 32, 1, 3, 2>,
                              RatedTiling<90, 32, 32, 32, 32, 32, 4, 4, 2>,
                              RatedTiling<110, 16, 16, 64, 16, 16, 8, 5, 2>>;
  using Gradients = TilingTable<
      MmaDouble, RatedTiling<130, 128, 128, 16, 64, 32, 1, 3, 1>,
      RatedTiling<135, 64, 104, 16, 16, 104, 2, 4, 1>,
      RatedTiling<136, 64, 128, 16, 32, 32, 1, 3, 1>,
      RatedTiling<130, 32, 104, 32, 16, 104, 4, 3, 1>,
      RatedTiling<130, 64, 56, 16, 16, 56, 2, 4, 1>, RatedTiling<115, 48, 56, 32, 16, 56, 4, 3, 1>,
      RatedTiling<130, 32, 56, 32, 16, 56, 4, 4, 1>, RatedTiling<130, 32, 64, 32, 32, 32, 4, 4, 1>,
      RatedTiling<121, 32, 32, 32, 32, 32, 4, 4, 3>, RatedTiling<140, 16, 16, 64, 16, 16, 8, 5, 2>>;
};
//! [layer_tiles]

/// Calls `multiply(a, b)` with factors that are copied in vectors where they have them, or number
/// by number.
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
/// @param a,b matrices of batch_matrices.cuh or StridedMatrix.
/// @param a_is_there,prologue see shared_memory::tile_kernel().
template <typename T, typename Vectors = typename LayerTiles<T>::Vectors, typename MatrixA,
          typename MatrixB, typename Epilogue, typename Prologue = shared_memory::NoPrologue>
void multiply_layer(cudaStream_t stream, const shared_memory::ProductSize& size, const MatrixA& a,
                    const MatrixB& b, const Epilogue& epilogue, shared_memory::Workspace& workspace,
                    bool a_is_there = false, const Prologue& prologue = {}) {
  constexpr bool have_vectors = MatrixA::length > 1 && MatrixB::length > 1;
  using Table = std::conditional_t<have_vectors, Vectors, typename LayerTiles<T>::Scalars>;
  Table::template with_plan<T>(size, [&]<typename Tiling>(Tiling /*tiling*/, int parts) {
    Table::template launch<T, Tiling>(stream, size, a, b, epilogue, parts, workspace, a_is_there,
                                      prologue);
  });
}
//! [multiply_layer]

}  // namespace stagewise::minibatch
