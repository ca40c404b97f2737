/// @file
/// Reductions over tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

/// Every thread of the group gets the combination of all their values.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation, CUDA_ON_CPU_HERE) {
  const auto threads = group.present();
  const auto rank = group.thread_rank();
  unsigned half = 1;
  while (half * 2 < threads) half *= 2;
  for (unsigned distance = half; distance > 0; distance /= 2) {
    const bool is_there = rank + distance < threads;
    const T other = group.shfl(value, static_cast<int>(is_there ? rank + distance : rank), place);
    if (rank < distance && is_there) value = operation(value, other);
  }
  return group.shfl(value, 0, place);
}

}  // namespace cooperative_groups
