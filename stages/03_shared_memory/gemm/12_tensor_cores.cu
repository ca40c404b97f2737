/// @file
/// GEMM, rung 12: doubles on tensor cores.
///
/// The rungs below use a multiprocessor's fp64 units, which do 64 multiply-adds per cycle. Since
/// the A100, tensor cores multiply doubles, too, at twice that rate and with the same rounding
/// (mma_double.cuh). On an H200, this raises the peak from 33 to 67 TFLOP/s.
///
/// An instruction does 512 multiply-adds, so everything else must be rare. Rung 11's loop is here
/// once more, in parts that stage 04 uses, too: tiles/tiles.cuh is their map. Copies do not branch,
/// and are placed between the multiplications, a few at a time (Pipeline). The numbers of the
/// next instructions are loaded while these multiply (kernel.cuh). And multiprocessors without work
/// cost more than anything else, so the tile has to fit the product (choose_tile.cu).
///
/// Run it: `ladder gemm --precision double --rung tensor-cores`, and with `--tiles` each of its
/// tiles.
/// Work: 2 m n k operations; m n k (1 / BM + 1 / BN) numbers from global memory, m n k (1 / WM +
/// 1 / WN) from shared memory.
/// Measured on an H200, 800 x 1000 x 784: 26.1 us in double.

#include "03_shared_memory/gemm/gemm_table.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/tiles/mma_double.cuh"

namespace stagewise::shared_memory {
namespace {

//! [tensor_core_tiles]
/// From large to small, each with its rate for vectors, and that for single scalars, or 0 where
/// another tile is as good. Those with about 6,000 elements suit products like that of
/// 800 x 1000, and the last ones results with few rows or columns.
using Table = TileTable<MmaDouble,
                        // the rates, BM, BN, BK, WM, WN, slice-k, buffers, blocks
                        TwiceRatedTile<130, 0, 128, 128, 16, 64, 32, 1, 3, 1>,
                        TwiceRatedTile<135, 107, 96, 96, 16, 48, 24, 1, 3, 1>,
                        TwiceRatedTile<135, 101, 64, 104, 16, 16, 104, 2, 4, 1>,
                        TwiceRatedTile<150, 99, 64, 80, 16, 16, 80, 2, 4, 1>,
                        TwiceRatedTile<123, 0, 64, 64, 16, 32, 32, 1, 3, 3>,
                        TwiceRatedTile<150, 0, 32, 64, 16, 32, 32, 2, 5, 3>,
                        TwiceRatedTile<130, 83, 32, 64, 32, 32, 32, 4, 4, 1>,
                        TwiceRatedTile<121, 90, 32, 32, 32, 32, 32, 4, 4, 3>,
                        TwiceRatedTile<71, 60, 32, 32, 16, 16, 16, 1, 2, 6>,
                        TwiceRatedTile<140, 110, 16, 16, 64, 16, 16, 8, 5, 2>>;
//! [tensor_core_tiles]

}  // namespace

GemmTiles<double> tensor_core_tiles() {
  return gemm_tiles_of<Table, double>();
}

}  // namespace stagewise::shared_memory
