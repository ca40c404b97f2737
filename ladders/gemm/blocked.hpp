/// @file
/// A product on one core between stage 01's loops and OpenBLAS.
#pragma once

#include "network/problems.hpp"

namespace stagewise::serial {

/// C = alpha op(A) op(B) + beta C with tiles in registers and packed panels; see serial::gemm().
template <typename T>
void gemm_blocked(const GemmProblem<T>& problem);

}  // namespace stagewise::serial
