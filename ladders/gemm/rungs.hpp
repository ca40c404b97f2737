/// @file
/// The kernels of the GEMM ladder that no stage has. Each computes C = alpha op(A) op(B) + beta C
/// for all sizes and transposes.
#pragma once

#include "03_shared_memory/kernels.hpp"

namespace stagewise::shared_memory {

/// Rung 5: coalesced for all transposes, with `padding` unused columns in shared memory.
template <typename T, int padding>
void gemm_coalesced_tile(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// @name The tiles of rungs 14 to 16
/// @{
GemmTiles<float> split_tf32_tiles();  ///< rung 14: three products in TF32
GemmTiles<float> tf32_tiles();        ///< rung 15: rounded to TF32
GemmTiles<float> bf16_tiles();        ///< rung 16: rounded to bfloat16
/// @}

}  // namespace stagewise::shared_memory
