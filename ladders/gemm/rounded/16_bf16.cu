/// @file
/// GEMM, rung 16: floats rounded to bfloat16.
///
/// bfloat16 has the exponent of a float and 7 bits of fraction. Twice as many multiply-adds fit
/// into an instruction as in TF32, and the numbers are off by up to 2^-8, eight times as much. The
/// sums are floats. Here, the factors are floats in memory, too, and rounded on the way from shared
/// memory to the unit; so only the unit's work halves. Where a network keeps bfloat16 in memory,
/// the bytes halve as well.
///
/// Run it: `ladder gemm --rung bf16`, and with `--tiles` each of its tiles.
/// Work: as rung 15, in instructions of 4,096 operations.
/// Measured on an H200, 800 x 1000 x 784: 16.6 us in float.

#include <cuda_bf16.h>

#include "03_shared_memory/gemm/gemm_table.cuh"
#include "ladders/gemm/rounded/mma_rounded.cuh"
#include "ladders/gemm/rungs.hpp"

namespace stagewise::shared_memory {

//! [bf16]
/// See mma_rounded.cuh.
struct Bf16 {
  static constexpr int steps = 16;

  struct Factor {
    unsigned bits[2];  ///< two numbers each
  };

  /// Rounds to the nearest.
  static __device__ __forceinline__ Factor factor(const float* numbers) {
    return {{pair(numbers[0], numbers[1]), pair(numbers[2], numbers[3])}};
  }

  /// sums += A B, 16 x 16 by 16 x 8: see the PTX ISA on `mma.m16n8k16` with `.bf16`.
  static __device__ __forceinline__ void multiply(float (&sums)[4], const Factor& upper, const Factor& lower,
                                                  const Factor& b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(upper.bits[0]), "r"(lower.bits[0]), "r"(upper.bits[1]), "r"(lower.bits[1]), "r"(b.bits[0]),
          "r"(b.bits[1]));
#else
    __trap();
#endif
  }

 private:
  /// Both rounded to the nearest, the first in the lower half.
  static __device__ __forceinline__ unsigned pair(float first, float second) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return __bfloat16_as_ushort(both.x) | __bfloat16_as_ushort(both.y) << 16U;
  }
};
//! [bf16]

template <typename Tile, typename TileA, typename TileB>
using MmaBf16 = MmaRounded<Bf16, Tile, TileA, TileB>;

namespace {

using Table = TileTable<
    MmaBf16,
    // the rates, BM, BN, BK, WM, WN, slice-k, buffers, blocks
    TwiceRatedTile<395, 395, 128, 128, 32, 64, 32, 1, 3, 1>, TwiceRatedTile<300, 260, 64, 104, 64, 16, 104, 2, 3, 1>,
    TwiceRatedTile<385, 385, 64, 64, 32, 32, 32, 1, 3, 2>, TwiceRatedTile<380, 360, 32, 32, 64, 32, 32, 2, 3, 3>>;

}  // namespace

GemmTiles<float> bf16_tiles() { return gemm_tiles_of<Table, float>(); }

}  // namespace stagewise::shared_memory
