/// @file
/// What the cooperative groups within a warp have in common: the lanes of a mask, by their ranks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda_on_cpu/warp_functions.h"
#include "vector_types.h"

namespace cuda_on_cpu {

inline unsigned rank_of_lane(unsigned mask, unsigned lane) {
  return static_cast<unsigned>(__builtin_popcount(mask & ((1U << lane) - 1U)));
}
/// The lane that has this rank among those of the mask.
inline unsigned lane_of_rank(unsigned mask, unsigned rank) {
  const unsigned neighbour = mask == 0 ? 32 : static_cast<unsigned>(__builtin_ctz(mask)) + rank;
  if (neighbour < 32 && (mask >> neighbour & 1U) != 0 && rank_of_lane(mask, neighbour) == rank) return neighbour;
  for (; rank > 0; --rank) mask &= mask - 1;
  return mask == 0 ? 32 : static_cast<unsigned>(__builtin_ctz(mask));
}
/// The bits at the lanes of the mask, by ranks.
inline unsigned by_ranks(unsigned mask, unsigned lanes) {
  unsigned result = 0;
  unsigned rank = 0;
  for_lanes(mask, [&](unsigned lane) { result |= (lanes >> lane & 1U) << rank++; });
  return result;
}
/// The lanes that the own warp has in a block of this shape.
inline unsigned lanes_of_own_warp() {
  const unsigned left = blockDim.x * blockDim.y * blockDim.z - (thread_in_block() & ~31U);
  return left >= 32 ? full_warp : (1U << left) - 1U;
}

/// Calls exchange_word(value) for each eight bytes of a value.
template <class T, class ExchangeWord>
T by_words(const T& value, const ExchangeWord& exchange_word) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain values go from thread to thread");
  std::uint64_t words[(sizeof(T) + 7) / 8] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (std::uint64_t& word : words) word = exchange_word(word);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

/// The lanes of a mask, among them the caller's own.
class LaneGroup {
 public:
  void sync(CUDA_ON_CPU_HERE) const { __syncwarp(mask_, place); }
  unsigned thread_rank() const { return rank_of_lane(mask_, own_lane()); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  unsigned ballot(int predicate, CUDA_ON_CPU_HERE) const {
    return by_ranks(mask_, __ballot_sync(mask_, predicate, place));
  }
  int any(int predicate, CUDA_ON_CPU_HERE) const { return __any_sync(mask_, predicate, place); }
  int all(int predicate, CUDA_ON_CPU_HERE) const { return __all_sync(mask_, predicate, place); }
  template <class T>
  unsigned match_any(T value, CUDA_ON_CPU_HERE) const {
    return by_ranks(mask_, __match_any_sync(mask_, value, place));
  }
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_HERE) const {
    return from_rank(value, static_cast<unsigned>(source) % count(), "shfl", place);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, CUDA_ON_CPU_HERE) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank >= delta ? rank - delta : rank, "shfl_up", place);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, CUDA_ON_CPU_HERE) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank + delta < count() ? rank + delta : rank, "shfl_down", place);
  }
  /// The lanes that are there: the last warp of a block may be short of some.
  unsigned present() const { return static_cast<unsigned>(__builtin_popcount(mask_ & lanes_of_own_warp())); }
  /// Not a function of CUDA's.
  unsigned lanes() const { return mask_; }

 protected:
  LaneGroup(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned count() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  template <class T>
  T from_rank(const T& value, unsigned rank, const char* what, Place place) const {
    const unsigned lane = lane_of_rank(mask_, rank);
    return by_words(value, [&](std::uint64_t word) { return exchange(mask_, word, lane & 31U, shuffle, what, place); });
  }

  unsigned mask_;
  unsigned meta_rank_;
  unsigned meta_size_;
};

}  // namespace cuda_on_cpu
