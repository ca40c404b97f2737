/// @file
/// Many sums over the lanes of a warp at once.
#pragma once

#include "03_shared_memory/warp.cuh"

namespace stagewise::minibatch {

//! [dealt_sums]
/// Adds up `count` numbers of each lane, and deals out the totals among the lanes.
///
/// A tree of shuffles takes 5 for each number, and then every lane has every total. Here a lane
/// sends away the half of its numbers whose totals are not its own, and gets as many for the other
/// half: in the first step `count` / 2 shuffles, in the next `count` / 4, and so on, less than
/// `count` in all. Once the numbers cannot be halved any more, lanes share totals.
template <int count>
class DealtSums {
 public:
  static constexpr int halvings = count % 32 == 0 ? 5 : count % 16 == 0 ? 4 : 3;
  static constexpr int held = count >> halvings;  ///< how many totals a lane gets
  static_assert(held << halvings == count);

  /// @param values afterwards, the first `held` of them are totals, from number first() on.
  template <typename T>
  static __device__ void add_up(T (&values)[count]) {
#pragma unroll
    for (int step = 0; step < 5; ++step) {
      const int distance = 16 >> step;
      const int half = count >> (step + 1);
      const bool is_upper = (lane() & distance) != 0;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (step < halvings ? i >= half : i >= held) continue;
        if (step < halvings) {
          const T own = is_upper ? values[half + i] : values[i];
          const T other = is_upper ? values[i] : values[half + i];
          values[i] = own + __shfl_xor_sync(shared_memory::all_lanes, other, distance);
        } else {
          values[i] += __shfl_xor_sync(shared_memory::all_lanes, values[i], distance);
        }
      }
    }
  }

  /// The number of this lane's first total.
  static __device__ int first() {
    return (lane() >> (5 - halvings)) * held;
  }

  /// Whether no lower lane has the same totals.
  static __device__ bool is_first_holder() {
    return lane() % (32 >> halvings) == 0;
  }

 private:
  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % 32);
  }
};
//! [dealt_sums]

}  // namespace stagewise::minibatch
