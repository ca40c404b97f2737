/// @file
/// Functions by which the lanes of a warp exchange values: shuffles, votes, matches, reductions.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_on_cpu/kernel.hpp"
#include "cuda_runtime_api.h"

namespace cuda_on_cpu {

constexpr unsigned full_warp = 0xffffffffU;

/// Nothing is exchanged: a barrier of the warp. The runtime knows it by its address.
void only_wait(Lane* lanes, unsigned mask);

/// Each lane names the lane it reads, which must take part.
inline void shuffle(Lane* lanes, unsigned mask) {
  for_lanes(mask, [&](unsigned lane) {
    const unsigned from = lanes[lane].argument;
    lanes[lane].missing = (mask >> from & 1U) == 0;
    if (!lanes[lane].missing) lanes[lane].result = lanes[from].value;
  });
}
inline void ballot(Lane* lanes, unsigned mask) {
  unsigned votes = 0;
  for_lanes(mask, [&](unsigned lane) {
    if (lanes[lane].value != 0) votes |= 1U << lane;
  });
  for_lanes(mask, [&](unsigned lane) { lanes[lane].result = votes; });
}
inline void match_any(Lane* lanes, unsigned mask) {
  for_lanes(mask, [&](unsigned lane) {
    unsigned same = 0;
    for_lanes(mask, [&](unsigned other) {
      if (lanes[other].value == lanes[lane].value) same |= 1U << other;
    });
    lanes[lane].result = same;
  });
}

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// All lanes get the combination of all values, taken in the order of the lanes.
template <class T, class Operation>
void reduce(Lane* lanes, unsigned mask) {
  bool first = true;
  T sum{};
  for_lanes(mask, [&](unsigned lane) {
    const T value = from_bits<T>(lanes[lane].value);
    sum = first ? value : Operation()(sum, value);
    first = false;
  });
  for_lanes(mask, [&](unsigned lane) { lanes[lane].result = to_bits(sum); });
}
#define CUDA_ON_CPU_OPERATION(name, expression) \
  struct name {                                 \
    template <class T>                          \
    T operator()(T a, T b) const {              \
      return static_cast<T>(expression);        \
    }                                           \
  };
CUDA_ON_CPU_OPERATION(Add, a + b)
CUDA_ON_CPU_OPERATION(Min, b < a ? b : a)
CUDA_ON_CPU_OPERATION(Max, a < b ? b : a)
CUDA_ON_CPU_OPERATION(And, a& b)
CUDA_ON_CPU_OPERATION(Or, a | b)
CUDA_ON_CPU_OPERATION(Xor, a ^ b)
#undef CUDA_ON_CPU_OPERATION

inline unsigned own_lane() { return thread_in_block() & 31U; }

template <class T>
T shuffle_from(unsigned mask, T value, unsigned from, const char* what, Place place) {
  return from_bits<T>(exchange(mask, to_bits(value), from, shuffle, what, place));
}

}  // namespace cuda_on_cpu

inline void __syncwarp(unsigned mask = 0xffffffffU, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  exchange(mask, 0, 0, only_wait, "__syncwarp", place);
}
/// The lanes that have come here by the same calls: they wait for each other as if in lockstep.
inline unsigned __activemask(CUDA_ON_CPU_HERE) { return cuda_on_cpu::converge("__activemask", place); }

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned segment = own_lane() & ~(static_cast<unsigned>(width) - 1U);
  const unsigned from = segment | (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1U));
  return shuffle_from(mask, value, from, "__shfl_sync", place);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const bool inside = (lane & (static_cast<unsigned>(width) - 1U)) >= delta;
  return shuffle_from(mask, value, inside ? lane - delta : lane, "__shfl_up_sync", place);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const unsigned last = static_cast<unsigned>(width) - 1U;
  const bool inside = (lane & last) + delta <= last;
  return shuffle_from(mask, value, inside ? lane + delta : lane, "__shfl_down_sync", place);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const unsigned from = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned segments = ~(static_cast<unsigned>(width) - 1U);
  // A lane of an earlier segment may be read, one of a later may not.
  const bool inside = from < 32 && (from & segments) <= (lane & segments);
  return shuffle_from(mask, value, inside ? from : lane, "__shfl_xor_sync", place);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<unsigned>(exchange(mask, predicate != 0 ? 1 : 0, 0, ballot, "__ballot_sync", place));
}
inline int __any_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return exchange(mask, predicate != 0 ? 1 : 0, 0, ballot, "__any_sync", place) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return exchange(mask, predicate != 0 ? 0 : 1, 0, ballot, "__all_sync", place) == 0 ? 1 : 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<unsigned>(exchange(mask, to_bits(value), 0, match_any, "__match_any_sync", place));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, CUDA_ON_CPU_HERE) {
  const unsigned same = __match_any_sync(mask, value, place);
  *predicate = same == (mask & cuda_on_cpu::active_lanes()) ? 1 : 0;
  return *predicate != 0 ? same : 0U;
}

#define CUDA_ON_CPU_WARP_REDUCE(name, T, Operation)                                             \
  inline T name(unsigned mask, T value, CUDA_ON_CPU_HERE) {                                     \
    using namespace cuda_on_cpu;                                                                \
    return from_bits<T>(exchange(mask, to_bits(value), 0, reduce<T, Operation>, #name, place)); \
  }
CUDA_ON_CPU_WARP_REDUCE(__reduce_add_sync, int, Add)
CUDA_ON_CPU_WARP_REDUCE(__reduce_add_sync, unsigned, Add)
CUDA_ON_CPU_WARP_REDUCE(__reduce_min_sync, int, Min)
CUDA_ON_CPU_WARP_REDUCE(__reduce_min_sync, unsigned, Min)
CUDA_ON_CPU_WARP_REDUCE(__reduce_max_sync, int, Max)
CUDA_ON_CPU_WARP_REDUCE(__reduce_max_sync, unsigned, Max)
CUDA_ON_CPU_WARP_REDUCE(__reduce_and_sync, unsigned, And)
CUDA_ON_CPU_WARP_REDUCE(__reduce_or_sync, unsigned, Or)
CUDA_ON_CPU_WARP_REDUCE(__reduce_xor_sync, unsigned, Xor)
#undef CUDA_ON_CPU_WARP_REDUCE
