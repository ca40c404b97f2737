/// @file
/// GEMM, rung 15: floats rounded to TF32.
///
/// Tensor cores multiply floats, too, if 10 bits of fraction are enough. On an H200, they do 8
/// times as many multiply-adds per cycle as the fp32 units. The price is accuracy: each number is
/// off by up to 2^-11 of itself, and the sum of the products by about as much. So this rung and the
/// next must be asked for; the stage never picks them.
///
/// Run it: `ladder gemm --rung tf32`, and with `--tiles` each of its tiles. The column `difference`
/// shows the price.
/// Work: 2 m n k operations, in instructions of 2,048; m n k (1 / BM + 1 / BN) numbers from global
/// memory, m n k (1 / WM + 1 / WN) from shared memory.
/// Measured on an H200, 800 x 1000 x 784: 16.9 us in float.

#include "03_shared_memory/gemm/gemm_table.cuh"
#include "ladders/gemm/rounded/mma_tf32.cuh"
#include "ladders/gemm/rungs.hpp"

namespace stagewise::shared_memory {

namespace {

using Table = TileTable<
    MmaTf32,
    // the rates, BM, BN, BK, WM, WN, slice-k, buffers, blocks
    TwiceRatedTile<345, 365, 128, 128, 32, 64, 32, 1, 3, 1>, TwiceRatedTile<330, 310, 64, 104, 32, 16, 104, 2, 3, 1>,
    TwiceRatedTile<330, 300, 64, 64, 32, 32, 32, 1, 3, 2>, TwiceRatedTile<335, 320, 32, 32, 64, 32, 32, 4, 3, 2>>;

}  // namespace

GemmTiles<float> tf32_tiles() { return gemm_tiles_of<Table, float>(); }

}  // namespace stagewise::shared_memory
