/// @file
/// An Mma for floats: the ordinary units, each thread for itself.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/tiles/tiles.cuh"
#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

/// How the rows or columns of a warp's tile are shared: each lane has `count` of them, and `lanes`
/// lanes differ in which. They come in groups that fit a vector, and a shorter one at the end.
/// @return which one number `i` of lane `lane` is.
template <int count, int lanes>
__device__ constexpr int index_in_groups(int i, int lane) {
  constexpr int whole = count / 4 * 4;
  constexpr int pairs = whole + (count - whole) / 2 * 2;
  if (i < whole) return (i / 4 * lanes + lane) * 4 + i % 4;
  if (i < pairs) return whole * lanes + lane * 2 + i % 2;
  return pairs * lanes + lane;
}

//! [lane_fragment]
/// A lane's elements of a k tile, in two sets of registers, for two rounds of one step each.
///
/// Where the k tile is k-major, a vector has four steps of a row, so all rows are loaded every
/// fourth round. Otherwise, it has four rows of a step.
/// @tparam in_pairs whether rows must come in pairs of neighbours.
template <typename T, typename KTile, int count, int lanes, bool in_pairs>
class LaneFragment {
 public:
  /// The row, within the warp's tile, of element `i`.
  static __device__ constexpr int row(int i, int lane) {
    if constexpr (!KTile::k_major) return index_in_groups<count, lanes>(i, lane);
    if constexpr (in_pairs) return (i / 2 * lanes + lane) * 2 + i % 2;
    return i * lanes + lane;
  }

  /// Loads the elements of a round, whose step is `step`, of the warp's tile that begins at
  /// `first`.
  __device__ __forceinline__ void load(int round, const T* tile, int first, int step, int lane) {
    if constexpr (KTile::k_major) {
      if (round % length != 0) return;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const T* const from = tile + KTile::index(first + row(i, lane), step);
        rows_[round / length % 2][i] = *reinterpret_cast<const Vector<T>*>(from);
      }
    } else {
      const T* const from = tile + KTile::index(first, step);
      constexpr int whole = count / length * length;
      T* const to = steps_[round % 2];
#pragma unroll
      for (int i = 0; i < whole; i += length) load_vector(to + i, from + row(i, lane));
      if constexpr (count - whole >= 2) load_vector<T, 2>(to + whole, from + row(whole, lane));
      if constexpr (count % 2 == 1) load_vector<T, 1>(to + count - 1, from + row(count - 1, lane));
    }
  }

  /// Element `i` of a round.
  __device__ T value(int round, int i) const {
    if constexpr (KTile::k_major) {
      return rows_[round / length % 2][i].values[round % length];
    } else {
      return steps_[round % 2][i];
    }
  }

 private:
  static constexpr int length = Vector<T>::length;

  Vector<T> rows_[2][KTile::k_major ? count : 1];
  T steps_[2][KTile::k_major ? 1 : count];
};
//! [lane_fragment]

/// Which of the `lanes` lanes of a dimension this one is, 4 or 8: the bits 0 and 4 of its number
/// are those of the dimension with 4 lanes.
template <int lanes>
__device__ int lane_of() {
  const unsigned among_four = threadIdx.x % 2 + threadIdx.x / 16 % 2 * 2;
  return static_cast<int>(lanes == 4 ? among_four : threadIdx.x / 2 % 8);
}

//! [fma]
/// A warp's tile of WM x WN is divided among the lanes, into TM x TN each, nearly square. A round
/// is one step; see tiles.cuh for what an Mma has.
///
/// **Lanes** are numbered so that 8 neighbours, which read their vectors together, need only 2
/// different ones of the factor with fewer lanes and 4 of the other: shared memory delivers those
/// in one cycle.
///
/// **Products** run along the longer side, forwards for one element of the other factor and
/// backwards for the next. So two neighbouring products always have a factor in common, which the
/// unit need not read from the registers again.
template <typename Tile, typename TileA, typename TileB>
class Fma {
 public:
  static constexpr int lanes_across = Tile::WN > Tile::WM ? 8 : 4;
  static constexpr int lanes_down = 32 / lanes_across;
  static constexpr int TM = Tile::WM / lanes_down;
  static constexpr int TN = Tile::WN / lanes_across;
  static constexpr int rounds = Tile::depth;
  static constexpr int sums = TM * TN;
  /// The registers of a vector must be neighbours. For that, many sums leave too few others.
  static constexpr bool in_vectors = TN % 4 == 0 && !TileB::k_major && sums <= 64;
  static constexpr int neighbours = in_vectors ? 4 : 2;
  static constexpr int rows = TM;
  static constexpr int groups = TN / neighbours;
  static constexpr int longer = TN > TM ? TN : TM;
  static_assert(TM * lanes_down == Tile::WM && TN * lanes_across == Tile::WN && TN % 2 == 0);
  static_assert(rounds % 8 == 0, "vectors of four steps, in two sets of registers");

  /// Sum number `i`.
  __device__ float& sum(int i) { return sums_[i / TN][i % TN]; }

  /// The first sum of a row's group.
  static __device__ constexpr int first_sum(int row, int group) {
    return row * TN + group * neighbours;
  }

  /// Its row in the block's tile.
  static __device__ int row(int i) {
    return Tile::warp_row() + FragmentA::row(i / TN, lane_of<lanes_down>());
  }
  /// Its column.
  static __device__ int column(int i) {
    return Tile::warp_column() + FragmentB::row(i % TN, lane_of<lanes_across>());
  }

  /// Loads this lane's elements of a round.
  __device__ __forceinline__ void load(int round, const float* a, const float* b) {
    const int step = Tile::slice() * Tile::depth + round % rounds;
    a_.load(round, a, Tile::warp_row(), step, lane_of<lanes_down>());
    b_.load(round, b, Tile::warp_column(), step, lane_of<lanes_across>());
  }

  /// Multiplies what was loaded for a round.
  __device__ __forceinline__ void multiply(int round) {
#pragma unroll
    for (int line = 0; line < TM * TN / longer; ++line) {
#pragma unroll
      for (int n = 0; n < longer; ++n) {
        const int along = line % 2 == 0 ? n : longer - 1 - n;
        const int i = TN > TM ? line : along;
        const int j = TN > TM ? along : line;
        sums_[i][j] += a_.value(round, i) * b_.value(round, j);
      }
    }
  }

 private:
  using FragmentA = LaneFragment<float, TileA, TM, lanes_down, false>;
  using FragmentB = LaneFragment<float, TileB, TN, lanes_across, true>;

  FragmentA a_;
  FragmentB b_;
  float sums_[TM][TN] = {};
};
//! [fma]

template <>
inline constexpr bool keeps_vectors_of_steps<Fma> = true;

}  // namespace stagewise::shared_memory
