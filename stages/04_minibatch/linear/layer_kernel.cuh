/// @file
/// The kernel of a layer's products, and its launch.
///
/// It is stage 03's (gemm/planned_tiles.cuh), but starts early (03_shared_memory/
/// dependent_launch.cuh): its blocks are there while the kernel before still runs, and if a factor
/// does not come from that kernel, as the batch does not, they already copy the first of it.
#pragma once

#include "03_shared_memory/dependent_launch.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "cuda/device.hpp"

namespace stagewise::minibatch {

/// What a kernel's blocks do besides while their first copies are under way: nothing.
struct NothingElse {
  /// All threads of block number `block` of `blocks` call it.
  template <int threads>
  __device__ void run(int /*block*/, int /*blocks*/) const {}
};

//! [layer_kernel]
/// @tparam Tiles has the unit that multiplies: see LayerTiles.
/// @param a_is_there whether A does not depend on the kernel before.
/// @param besides see NothingElse.
template <typename T, typename Tiles, typename Tiling, typename MatrixA, typename MatrixB,
          typename Epilogue, typename Besides>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks)
    layer_kernel(int m, int n, int k, MatrixA a, MatrixB b, bool a_is_there, Epilogue epilogue,
                 Besides besides, shared_memory::SharedTiles<T> shared) {
  extern __shared__ __align__(128) unsigned char memory[];
  const shared_memory::TileOrder<Tiling> order = {m, n};
  const auto tile = static_cast<int>(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.y);
  const auto parts = static_cast<int>(gridDim.y);
  const int begin = shared.k_tiles.begin(part) * Tiling::BK;
  const int end = shared.k_tiles.begin(part + 1) * Tiling::BK;

  using Work =
      shared_memory::MultipliedTile<T, Tiles::template Multiplier, Tiling, MatrixA, MatrixB>;
  Work work(reinterpret_cast<T*>(memory), order.place(tile));
  if (!a_is_there) shared_memory::wait_and_let_next_start();
  work.multiply(
      a, b, begin, end < k ? end : k,
      [&] {
        if (a_is_there) shared_memory::wait_and_let_next_start();
      },
      [&] {
        besides.template run<Tiling::threads>(part * static_cast<int>(gridDim.x) + tile,
                                              parts * static_cast<int>(gridDim.x));
      });
  work.finish(epilogue, m, n, {shared.partials, shared.counters, tile, part, parts});
}
//! [layer_kernel]

/// Launches it with a tiling; parts as in multiply_planned_tiles().
template <typename Tiling, typename T, typename Tiles, typename MatrixA, typename MatrixB,
          typename Epilogue, typename Besides>
void launch_layer(cudaStream_t stream, Index m, Index n, Index k, const MatrixA& a,
                  const MatrixB& b, bool a_is_there, const Epilogue& epilogue,
                  const Besides& besides, int parts, shared_memory::Workspace& workspace) {
  constexpr int bytes = shared_memory::MultipliedTile<T, Tiles::template Multiplier, Tiling,
                                                      MatrixA, MatrixB>::bytes();
  constexpr auto* kernel = layer_kernel<T, Tiles, Tiling, MatrixA, MatrixB, Epilogue, Besides>;
  static const bool is_allowed = [] {
    shared_memory::allow_shared_memory(kernel);
    return true;
  }();
  static_cast<void>(is_allowed);
  const Index tiles = shared_memory::tile_count<Tiling>(m, n);
  const auto shared = shared_memory::share_tiles<Tiling, T>(tiles, k, parts, workspace);
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>(parts));
  const int spread = shared_memory::bytes_to_spread(kernel, tiles * parts, bytes);
  shared_memory::launch<shared_memory::Start::early, kernel>(
      "layer",
      shared_memory::LaunchShape{blocks, dim3(Tiling::threads), static_cast<std::size_t>(spread)},
      stream, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a, b, a_is_there,
      epilogue, besides, shared);
}

//! [multiply_layer]
/// C = epilogue(op(A) op(B)) in the tiles that suit it, m and n at least 1.
/// @tparam Vectors the table for factors that are copied in vectors.
/// @param a,b matrices of batch_matrices.cuh or StridedMatrix.
/// @param a_is_there,besides see layer_kernel().
template <typename T, typename Vectors = typename LayerTiles<T>::Vectors, typename MatrixA,
          typename MatrixB, typename Epilogue, typename Besides = NothingElse>
void multiply_layer(cudaStream_t stream, Index m, Index n, Index k, const MatrixA& a,
                    const MatrixB& b, bool a_is_there, const Epilogue& epilogue,
                    shared_memory::Workspace& workspace, const Besides& besides = {}) {
  constexpr bool have_vectors = MatrixA::length > 1 && MatrixB::length > 1;
  using Table = std::conditional_t<have_vectors, Vectors, typename LayerTiles<T>::Scalars>;
  constexpr auto& tiles = Table::template tiles<T>;
  const shared_memory::TilePlan plan =
      shared_memory::plan_tiles(std::span<const shared_memory::FittedTile<T>>(tiles), m, n, k);
  Table::with(plan.tile, [&]<typename Tiling>(Tiling /*tiling*/) {
    launch_layer<Tiling, T, LayerTiles<T>>(stream, m, n, k, a, b, a_is_there, epilogue, besides,
                                           plan.parts, workspace);
  });
}
//! [multiply_layer]

}  // namespace stagewise::minibatch
