/// @file
/// Scans over tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

/// Each thread gets the combination of the values up to its own.
template <class Group, class T, class Operation = plus<T>>
T inclusive_scan(const Group& group, T value, Operation operation = {}, CUDA_ON_CPU_HERE) {
  const auto threads = group.present();
  const auto rank = group.thread_rank();
  for (unsigned distance = 1; distance < threads; distance *= 2) {
    const bool is_there = rank >= distance;
    const T other = group.shfl(value, static_cast<int>(is_there ? rank - distance : rank), place);
    if (is_there) value = operation(other, value);
  }
  return value;
}

/// Each thread gets the combination of the values before its own, the first one T().
template <class Group, class T, class Operation = plus<T>>
T exclusive_scan(const Group& group, T value, Operation operation = {}, CUDA_ON_CPU_HERE) {
  const T scanned = inclusive_scan(group, value, operation, place);
  const auto rank = group.thread_rank();
  const T before = group.shfl(scanned, static_cast<int>(rank > 0 ? rank - 1 : 0), place);
  return rank > 0 ? before : T();
}

}  // namespace cooperative_groups
