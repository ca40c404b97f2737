/// @file
/// The kernels of the GEMM ladder, from which gemm.cu builds the ladder, which problems they
/// support, and how they are called. Every one computes C = alpha op(A) op(B) + beta C for all
/// sizes and transposes.
#pragma once

#include <string>
#include <type_traits>

#include "03_shared_memory/kernels.hpp"
#include "cuda/device.hpp"

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
GemmTiles<double> tensor_core_tiles();  ///< rung 12: doubles on tensor cores
GemmTiles<float> fitted_tiles();        ///< rung 13: floats on fp32 units
/// @}

/// A kernel that is not asked for products without elements: a grid must not be empty.
template <typename T>
using Kernel = void (*)(cudaStream_t, const GemmProblem<T>&, Workspace&);

/// Calls the kernel, unless C has no elements.
template <typename T, Kernel<T> kernel>
void run_kernel(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if (p.m > 0 && p.n > 0) kernel(stream, p, workspace);
}

/// Why a kernel cannot be used on this GPU.
inline Support takes_capability(const std::string& which) {
  const int capability = cuda::compute_capability();
  return {"it takes a GPU of compute capability " + which + ", and this one has " +
          std::to_string(capability / 10) + "." + std::to_string(capability % 10)};
}

/// Whether sizes can be counted in ints.
template <typename T>
Support supports_ints(const GemmProblem<T>& p) {
  if (fits_ints(p.m, p.n, p.k)) return {};
  return {"it counts in 32 bits, which is too little for these sizes"};
}

/// `cp.async` is there from compute capability 8.0 on.
template <typename T>
Support supports_async_copies(const GemmProblem<T>& /*p*/) {
  if (cuda::compute_capability() >= 80) return {};
  return takes_capability("8.0 or higher");
}

/// Each table of tiles is for numbers of one type.
template <typename T, auto tiles>
constexpr bool are_tiles_of = std::is_same_v<decltype(tiles()), GemmTiles<T>>;

/// Whether the table is for numbers of this type, and the GPU has its instructions: those of the
/// tensor cores, too, are there from 8.0 on.
template <typename T, auto tiles>
Support supports_tiles(const GemmProblem<T>& p) {
  if (are_tiles_of<T, tiles>) {
    const Support support = supports_async_copies(p);
    return support ? supports_ints(p) : support;
  }
  return {std::is_same_v<T, float> ? "it multiplies doubles; floats have rungs of their own"
                                   : "it multiplies floats"};
}

/// The product by the tile of the table that suits it; nothing if the table is for another type.
template <typename T, auto tiles>
void gemm_in_tiles(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if constexpr (are_tiles_of<T, tiles>) {
    const TileChoice choice = remembered_choice(tiles().info, p.m, p.n, p.k, copies_vectors(p));
    tiles().run(stream, p, choice.tile, choice.split_k, workspace);
  }
}

}  // namespace stagewise::shared_memory
