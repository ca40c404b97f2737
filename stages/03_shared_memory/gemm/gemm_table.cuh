/// @file
/// The product of two stored matrices with each tile of a table, for the rungs from 12 on.
#pragma once

#include "03_shared_memory/kernels.hpp"
#include "03_shared_memory/tiles/alpha_beta.cuh"
#include "03_shared_memory/tiles/kernel.cuh"
#include "03_shared_memory/tiles/matrix.cuh"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

/// Computes a product with a tile of a table; see GemmTiles::run. A factor is another type for each
/// direction of its memory and each length of copies, and so the kernel.
/// @throws Error if the tile does not take the product; see TileInfo::takes().
template <typename Table, typename T>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, std::size_t tile, int split_k,
                   Workspace& workspace) {
  const auto multiply = [&]<bool a_k_major, bool b_k_major, int length>() {
    Table::with(tile, [&]<typename Tile>(Tile /*tile*/) {
      if constexpr ((length > 1 ? Tile::rate : Tile::rate_of_scalars) > 0) {
        constexpr bool transposes_b = Table::transposes_b && a_k_major && b_k_major;
        launch_tiles<Tile>(stream, ProductSize{p.m, p.n, p.k},
                           StridedMatrix<T, a_k_major, length>(p.a, p.m, p.k),
                           StridedMatrix<T, b_k_major, length, transposes_b>(p.b, p.n, p.k),
                           AlphaBeta<T>(p), split_k, workspace);
      } else {
        throw Error("this tile has no kernel for factors that are aligned like these");
      }
    });
  };
  const auto with_length = [&]<bool a_k_major, bool b_k_major>() {
    if constexpr (a_k_major || !b_k_major) {
      if (copies_vectors(p)) {
        return multiply.template operator()<a_k_major, b_k_major, Vector<T>::length>();
      }
    }
    multiply.template operator()<a_k_major, b_k_major, 1>();
  };
  if (p.op_a == Transpose::no) {
    p.op_b == Transpose::yes ? with_length.template operator()<true, true>()
                             : with_length.template operator()<true, false>();
  } else {
    p.op_b == Transpose::yes ? with_length.template operator()<false, true>()
                             : with_length.template operator()<false, false>();
  }
}

/// The tiles of a table.
template <typename Table, typename T>
GemmTiles<T> gemm_tiles_of() {
  return {Table::template tiles<T>, multiply_with<Table, T>};
}

}  // namespace stagewise::shared_memory
