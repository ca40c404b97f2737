/// @file
/// GEMM, rung 14: doubles on tensor cores.
///
/// The rungs below use a multiprocessor's fp64 units, which do 64 multiply-adds per cycle. Since
/// the A100, tensor cores multiply doubles, too, at twice that rate and with the same rounding
/// (mma.cuh). On an H200, this raises the peak from 33 to 67 TFLOP/s.
///
/// Now idle multiprocessors cost more than anything else, so the tile has to fit the product: with
/// 64 x 104, 800 x 1000 has 130 tiles, nearly one for each of 132 multiprocessors; with 64 x 64, it
/// has 208, more than one and a half waves. The launch picks the tile for which the number of waves
/// times the tile's size is smallest.
///
/// Run it: `ladder gemm --precision double --rung tensor-cores`.
/// Work: 2 m n k operations; m n k (1 / BM + 1 / BN) numbers from global memory, m n k (1 / WM +
/// 1 / WN) from shared memory.

#include <stdexcept>
#include <type_traits>

#include "03_shared_memory/gemm/mma_double.cuh"
#include "03_shared_memory/gemm/multiplied_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {
namespace {

//! [tensor_cores]
template <typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
__global__ void __launch_bounds__(Tiling::threads)
    tensor_cores_kernel(int m, int n, int k_tiles, LoaderA a, LoaderB b, Epilogue epilogue) {
  extern __shared__ __align__(16) double shared[];
  const TilePlace tile = TileOrder<Tiling>{m, n}.place(static_cast<int>(blockIdx.x));
  MultipliedTile<double, MmaDouble, Tiling, LoaderA, LoaderB> work(shared, tile);
  work.multiply(a, b, 0, k_tiles);
  work.add_slices();
  work.finish(epilogue, m, n);
}
//! [tensor_cores]

template <typename Tiling, typename LoaderA, typename LoaderB, typename Epilogue>
void launch(cudaStream_t stream, Index m, Index n, Index k, const LoaderA& a, const LoaderB& b,
            const Epilogue& epilogue) {
  constexpr int bytes = MultipliedTile<double, MmaDouble, Tiling, LoaderA, LoaderB>::bytes();
  static const bool is_allowed = [] {  // more than the 48 KB that any kernel may use
    CUDA_CHECK(cudaFuncSetAttribute(tensor_cores_kernel<Tiling, LoaderA, LoaderB, Epilogue>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return true;
  }();
  static_cast<void>(is_allowed);
  const auto blocks = static_cast<unsigned>(tile_count<Tiling>(m, n));
  tensor_cores_kernel<Tiling><<<blocks, Tiling::threads, bytes, stream>>>(
      static_cast<int>(m), static_cast<int>(n), static_cast<int>(cuda::pieces(k, Tiling::BK)), a, b,
      epilogue);
  CUDA_CHECK_LAUNCH("gemm (tensor cores)");
}

using Large = SlicedTiling<128, 128, 16, 64, 32, 1, 3>;
using Fitted = SlicedTiling<64, 104, 16, 16, 104, 2, 4>;
using Medium = SlicedTiling<64, 64, 16, 32, 32, 1, 3>;
using Narrow = SlicedTiling<64, 16, 16, 16, 16, 2, 4>;

/// How long a product takes with a tile, relative to other tiles: waves times tile size.
template <typename Tiling>
double cost(const GemmProblem<double>& p, int blocks_at_once) {
  const Index at_once = Index{blocks_at_once} * cuda::multiprocessors();
  return static_cast<double>(cuda::pieces(tile_count<Tiling>(p.m, p.n), at_once)) * blocks_at_once *
         Tiling::BM * Tiling::BN;
}

void multiply(cudaStream_t stream, const GemmProblem<double>& p) {
  with_loaders(p, [&](const auto& a, const auto& b) {
    const auto run = [&]<typename Tiling>(Tiling /*tiling*/) {
      launch<Tiling>(stream, p.m, p.n, p.k, a, b, AlphaBeta<double>(p));
    };
    const double large = cost<Large>(p, 1);
    const double fitted = cost<Fitted>(p, 1);
    const double medium = cost<Medium>(p, 2);
    if (p.n <= Narrow::BN) {
      run(Narrow());
    } else if (large <= fitted && large <= medium) {
      run(Large());
    } else if (fitted <= medium) {
      run(Fitted());
    } else {
      run(Medium());
    }
  });
}

}  // namespace

template <typename T>
void gemm_tensor_cores(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  if constexpr (std::is_same_v<T, double>) {
    multiply(stream, p);
  } else {
    throw std::logic_error("the rung of doubles was given floats");
  }
}

template void gemm_tensor_cores(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_tensor_cores(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory
