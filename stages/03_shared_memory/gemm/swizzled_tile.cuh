/// @file
/// A k tile from which tensor cores' lanes, and others, read without bank conflicts.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

//! [swizzled_tile]
/// `extent` rows of A, or columns of B ("places"), and BK steps. The lanes of a warp read 4
/// neighbouring steps of 8 neighbouring places, one number each, or a vector each.
///
/// If memory runs along k, the numbers of a place are stored together, and their vectors are
/// permuted by exclusive or (a swizzle), so that places which would share banks do not. Otherwise
/// the places of a step are stored together, with a padding before those of the next: it shifts a
/// step by a quarter of the 32 banks against the one before.
///
/// If memory runs along k, but only for one or two vectors, nothing is left to permute: such a tile
/// is **turned** while it is copied, number by number, and its padding is a vector, so that copies
/// of 8 steps of 4 places do not conflict. It suits units whose lanes read vectors of places. Other
/// tiles are turned if `turns` says so.
template <typename T, int extent_, int BK_, bool along, bool turns = false>
struct SwizzledTile {
  static constexpr int extent = extent_;
  static constexpr int BK = BK_;
  static constexpr int length = Vector<T>::length;
  static constexpr bool is_turned = along && (turns || BK < 4 * length);
  static constexpr bool keeps_rows = along && !is_turned;
  static constexpr int bytes_of_banks = 128;
  static constexpr int quarter = bytes_of_banks / 4 / sizeof(T);  ///< numbers in 8 banks
  static constexpr int for_reads = extent % (2 * quarter) == quarter ? 0 : quarter;
  static constexpr int padding = is_turned ? length : for_reads;
  static constexpr int row_length = keeps_rows ? BK : extent + padding;
  static constexpr int elements = (keeps_rows ? extent : BK) * row_length;
  static_assert(extent % quarter == 0 || extent % (2 * quarter) == 0);

  /// How the vectors of a place are permuted, if its numbers are stored together.
  static constexpr int vectors = BK / length;
  static constexpr int read_together = 4 / length;  ///< vectors
  static constexpr int bytes = BK * sizeof(T);
  static constexpr int places_in_banks = bytes < bytes_of_banks ? bytes_of_banks / bytes : 1;
  /// After so many places, the permutations repeat.
  static constexpr int swizzled_places = keeps_rows ? places_in_banks * vectors / read_together : 1;
  static_assert(!keeps_rows || ((vectors & (vectors - 1)) == 0 && read_together >= 1));

  /// Where an element is. Its neighbours follow it, in `step` or in `place`, within a vector.
  static __device__ int index(unsigned place, unsigned step) {
    if constexpr (keeps_rows) {
      const unsigned swizzle = place / places_in_banks % (vectors / read_together) * read_together;
      return place * BK + ((step / length) ^ swizzle) * length + step % length;
    } else {
      return step * row_length + place;
    }
  }
};
//! [swizzled_tile]

/// Whether a multiplier reads vectors of steps, where places are stored together. It has them in
/// registers until it has multiplied all of their steps, four times as many numbers as it needs for
/// one; for both factors, there are not registers enough. Then one of them should be turned.
template <template <typename, typename, typename> class Multiplier>
inline constexpr bool keeps_vectors_of_steps = false;

}  // namespace stagewise::shared_memory
