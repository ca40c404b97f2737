/// @file
/// Matrix multiplication in three variants, from the textbook version to a library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/problems.hpp"

namespace stagewise::serial {

/// How gemm() orders its work. All variants compute the same product up to rounding.
enum class GemmVariant : std::uint8_t {
  naive,      ///< the definition: a dot product for each element of C
  reordered,  ///< the same multiplications in an order that runs along rows (default)
  blas        ///< OpenBLAS on one thread: the fair baseline for everything that follows
};

/// The names that `--gemm` accepts, in the order of GemmVariant.
const std::vector<std::string>& gemm_variant_names();

/// @throws UsageError for an unknown name.
GemmVariant parse_gemm_variant(const std::string& name);

/// C = alpha op(A) op(B) + beta C in the given variant; see GemmProblem for shapes. All sizes work,
/// including 0 and 1. With beta = 0, C is written without being read.
template <typename T>
void gemm(GemmVariant variant, const GemmProblem<T>& problem);

/// GemmVariant::naive: three loops, a dot product for each element.
template <typename T>
void gemm_naive(const GemmProblem<T>& problem);

/// GemmVariant::reordered: along the rows of B and C.
template <typename T>
void gemm_reordered(const GemmProblem<T>& problem);

/// GemmVariant::blas: OpenBLAS on one thread.
/// @throws Error if a dimension does not fit into the library's 32-bit integers.
template <typename T>
void gemm_blas(const GemmProblem<T>& problem);

}  // namespace stagewise::serial
