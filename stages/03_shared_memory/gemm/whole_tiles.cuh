/// @file
/// One block per tile of C: the kernel around the main loop in rungs 11 and 12.
#pragma once

#include "03_shared_memory/gemm/main_loop.cuh"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

//! [whole_tiles]
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
__global__ void __launch_bounds__(Tiling::threads, 2)
    whole_tiles_kernel(int m, int n, int k_tile_count, LoaderA a, LoaderB b, Epilogue epilogue) {
  __shared__ KTiles<Copies, stages, T, Tiling, LoaderA, LoaderB> k_tiles;
  Sums<T, Tiling> sums;
  const TilePlace tile = TileOrder<Tiling>{m, n}.place(static_cast<int>(blockIdx.x));
  multiply<Copies>(k_tiles, a, b, tile, 0, k_tile_count, sums);
  finish_tile(epilogue, tile, m, n, sums);
}
//! [whole_tiles]

/// C = epilogue(op(A) op(B)), m, n at least 1.
template <template <typename, typename, typename, int> class Copies, int stages, typename T,
          typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
void multiply_whole_tiles(cudaStream_t stream, Index m, Index n, Index k, const LoaderA& a,
                          const LoaderB& b, const Epilogue& epilogue) {
  const auto blocks = static_cast<unsigned>(tile_count<Tiling>(m, n));
  whole_tiles_kernel<Copies, stages, T, Tiling><<<blocks, Tiling::threads, 0, stream>>>(
      static_cast<int>(m), static_cast<int>(n), static_cast<int>(cuda::pieces(k, Tiling::BK)), a, b,
      epilogue);
  CUDA_CHECK_LAUNCH("gemm (whole tiles)");
}

}  // namespace stagewise::shared_memory
