/// @file
/// The kernels of the GEMM ladder that no stage has. Each computes C = alpha op(A) op(B) + beta C
/// for all sizes and transposes.
#pragma once

#include <span>

#include <cuda_runtime.h>

#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Rung 3: one block per dot product, whose threads add up their products with `Tree`.
template <typename T, typename Tree>
void gemm_dot_product(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// @name The tiles of rungs 16 to 18, for gemm_planned_tiles()
/// @{
std::span<const FittedTile<float>> tf32_tiles();        ///< rung 16: rounded to TF32
std::span<const FittedTile<float>> bf16_tiles();        ///< rung 17: rounded to bfloat16
std::span<const FittedTile<float>> split_tf32_tiles();  ///< rung 18: three products in TF32
/// @}

}  // namespace stagewise::shared_memory
