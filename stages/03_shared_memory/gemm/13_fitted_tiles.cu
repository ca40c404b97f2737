/// @file
/// GEMM, rung 13: floats in fitted tiles.
///
/// Tensor cores would round floats. But what rung 12 has put around them serves any unit: copies
/// without branches, slices of k, and a tile that fits the product. Here, threads multiply by
/// themselves, with one multiply-add per instruction (fma.cuh), so other instructions may
/// add only a tenth to a quarter. And 800 x 1000 has 130 tiles of 80 x 80,
/// nearly one for each of 132 multiprocessors, where rung 11 has 104 of 64 x 128.
///
/// Run it: `ladder gemm --rung fitted-tiles`, and with `--tiles` each of its tiles.
/// Work: 2 m n k operations; m n k (1 / BM + 1 / BN) numbers from global memory, m n k (1 / TM +
/// 1 / TN) from shared memory.
/// Measured on an H200, 800 x 1000 x 784: 32.2 us in float.

#include "03_shared_memory/gemm/gemm_table.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/tiles/fma.cuh"

namespace stagewise::shared_memory {
namespace {

//! [fitted_tiles]
/// Each with its rate for vectors, and that for single scalars, or 0 where another tile is as good.
using Table = TileTable<Fma,
                        // the rates, BM, BN, BK, WM, WN, slice-k, buffers, blocks
                        TwiceRatedTile<115, 0, 128, 128, 8, 32, 64, 1, 4, 1>,
                        TwiceRatedTile<92, 80, 80, 80, 32, 80, 40, 4, 3, 1>,
                        TwiceRatedTile<0, 80, 64, 128, 16, 32, 64, 1, 3, 2>,
                        TwiceRatedTile<0, 77, 96, 96, 16, 48, 48, 2, 3, 1>,
                        TwiceRatedTile<91, 79, 64, 80, 32, 64, 40, 4, 3, 1>,
                        TwiceRatedTile<103, 0, 96, 64, 16, 48, 32, 1, 3, 2>,
                        TwiceRatedTile<95, 75, 64, 64, 16, 32, 32, 1, 4, 3>,
                        TwiceRatedTile<103, 0, 32, 32, 32, 32, 32, 4, 4, 2>,
                        TwiceRatedTile<61, 45, 16, 16, 64, 16, 16, 8, 4, 2>>;
//! [fitted_tiles]

}  // namespace

GemmTiles<float> fitted_tiles() {
  return gemm_tiles_of<Table, float>();
}

}  // namespace stagewise::shared_memory
