/// @file
/// Of the cooperative groups: lanes of a warp that a branch, a label or a predicate keeps together.
#pragma once

#include "cuda_on_cpu/block_group.h"

namespace cooperative_groups {

/// Any lanes of a warp.
class coalesced_group : public cuda_on_cpu::LaneGroup {
 public:
  /// Not a constructor of CUDA's.
  coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : LaneGroup(mask, meta_rank, meta_size) {}

  unsigned size() const { return count(); }
  unsigned num_threads() const { return size(); }
  operator thread_group() const { return any_group(size(), mask_); }
  /// Only a tile's ranks begin again behind the last one.
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_HERE) const {
    return from_rank(value, static_cast<unsigned>(source), "shfl", place);
  }
};

/// The lanes of the warp that are at this place together.
inline coalesced_group coalesced_threads(CUDA_ON_CPU_HERE) {
  return {cuda_on_cpu::converge("coalesced_threads()", place), 0, 1};
}

/// The lanes of the group that have the same label.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, CUDA_ON_CPU_HERE) {
  const unsigned lanes = group.lanes();
  const unsigned same = __match_any_sync(lanes, label, place);
  const unsigned lowest = same & (~same + 1U);
  const bool leads = lowest == 1U << cuda_on_cpu::own_lane();
  const unsigned leaders = __ballot_sync(lanes, leads ? 1 : 0, place);
  return {same, static_cast<unsigned>(__popc(leaders & (lowest - 1U))),
          static_cast<unsigned>(__popc(leaders))};
}
/// The lanes of the group for which the predicate is the same.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, CUDA_ON_CPU_HERE) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate ? 1 : 0, place);
  const unsigned present = group.lanes() & cuda_on_cpu::lanes_of_own_warp();
  return {predicate ? yes : present & ~yes, predicate ? 1U : 0U, 2};
}

}  // namespace cooperative_groups
