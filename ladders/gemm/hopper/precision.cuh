/// @file
/// The two kinds of numbers that the rungs with `wgmma` round floats to.
///
/// To everything but the instruction, they differ in their size only: a row of a k tile is 128
/// bytes, and an instruction takes 32 of them, whatever the numbers are.
#pragma once

#include <cuda_bf16.h>
#include <mma.h>

#include "ladders/gemm/hopper/tensor_map.hpp"

namespace stagewise::shared_memory {

//! [precisions]
/// 7 bits of fraction, in 2 bytes.
struct Bf16Numbers {
  static constexpr MapType map_type = MapType::bf16;
  static constexpr int bytes = 2;  ///< of a number
  using Pair = __nv_bfloat162;     ///< two neighbours

  /// Both rounded to the nearest.
  static __device__ Pair round(float first, float second) { return __floats2bfloat162_rn(first, second); }

  /// How the instruction is called, and its last operands: nothing is negated, and both factors run
  /// along k.
  static constexpr char instruction[] = "k16.f32.bf16.bf16";
  static constexpr char operands[] = "1, 1, 0, 0";
};

/// 10 bits of fraction, in the 4 bytes of a float. The unit would cut the other bits off, which is
/// twice as wrong as rounding, and always towards zero.
struct Tf32Numbers {
  static constexpr MapType map_type = MapType::float32;
  static constexpr int bytes = 4;  ///< of a number
  using Pair = float2;             ///< two neighbours

  /// See above.
  static __device__ Pair round(float first, float second) {
    return {nvcuda::wmma::__float_to_tf32(first), nvcuda::wmma::__float_to_tf32(second)};
  }

  /// See above; TF32 factors always run along k.
  static constexpr char instruction[] = "k8.f32.tf32.tf32";
  static constexpr char operands[] = "1, 1";
};
//! [precisions]

/// How many numbers of a row are in a k tile.
template <typename Precision>
constexpr int steps_of_k_tile = box_row_bytes / Precision::bytes;

}  // namespace stagewise::shared_memory
