/// @file
/// The product of two stored matrices with each tile of a table, for the rungs from 12 on.
#pragma once

#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/tiles/matrix.cuh"
#include "03_shared_memory/tiles/table.cuh"
#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {

//! [multiply_with]
/// Computes a product with an entry of a table, in tiles that `split_k` blocks share. A factor is
/// another type for each direction of its memory and each length of copies, and so the kernel.
/// @throws Error if it does not take the product; see TileInfo::takes().
template <typename Table, typename T, typename Entry>
void multiply_with(cudaStream_t stream, const GemmProblem<T>& p, int split_k,
                   Workspace& workspace) {
  const auto multiply = [&]<bool a_k_major, bool b_k_major, int length>() {
    if constexpr ((length > 1 ? Entry::rate : Entry::rate_of_scalars) > 0) {
      constexpr bool transposes_b = Table::transposes_b && a_k_major && b_k_major;
      const StridedMatrix<T, a_k_major, length> a = {p.a, static_cast<int>(p.m),
                                                     static_cast<int>(p.k)};
      const StridedMatrix<T, b_k_major, length, transposes_b> b = {p.b, static_cast<int>(p.n),
                                                                   static_cast<int>(p.k)};
      Table::template launch<Entry>(stream, ProductSize{p.m, p.n, p.k}, a, b, AlphaBeta<T>(p),
                                    split_k, workspace);
    } else {
      throw Error("this tile has no kernel for factors that are aligned like these");
    }
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
//! [multiply_with]

/// The tiles of a table, with their `run`.
template <typename Table, typename T>
constexpr auto gemm_table() {
  auto tiles = Table::template tiles<T>;
  std::size_t i = 0;
  Table::for_each(
      [&]<typename Entry>(Entry /*entry*/) { tiles[i++].run = multiply_with<Table, T, Entry>; });
  return tiles;
}

}  // namespace stagewise::shared_memory
