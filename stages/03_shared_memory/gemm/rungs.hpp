/// @file
/// The kernels of the GEMM ladder, from which gemm.cu builds the ladder. Every one computes C =
/// alpha op(A) op(B) + beta C for all sizes and transposes.
#pragma once

#include <span>

#include <cuda_runtime.h>

#include "03_shared_memory/tiles/choose_tile.hpp"
#include "03_shared_memory/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Rung 1: stage 02's kernel with the indices swapped, and so without coalescing.
template <typename T>
void gemm_uncoalesced(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 4: tiles of `size` x `size` elements in shared memory.
template <typename T, int size>
void gemm_tile(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 6: a thread computes a column of several elements.
template <typename T>
void gemm_register_column(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 7: a thread computes a tile of elements.
template <typename T>
void gemm_register_tile(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 8: loads of 16 bytes.
template <typename T>
void gemm_vector_loads(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 9: the next tile is loaded while this one is multiplied.
template <typename T>
void gemm_double_buffering(cudaStream_t stream, const GemmProblem<T>& problem,
                           Workspace& workspace);

/// Rung 10: a block's tile is divided into warp tiles, and those into thread tiles.
template <typename T>
void gemm_warp_tiles(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// Rung 11: asynchronous copies to shared memory bypass the registers.
template <typename T>
void gemm_async_copies(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace);

/// @name The tiles of rungs 12 and 13
/// @{
std::span<const TileInfo<double>> tensor_core_tiles();  ///< rung 12: doubles on tensor cores
std::span<const TileInfo<float>> fitted_tiles();        ///< rung 13: floats on fp32 units
/// @}

}  // namespace stagewise::shared_memory
