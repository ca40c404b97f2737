/// @file
/// Scans over tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

/// Each thread gets the combination of the values up to its own.
template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation operation, CUDA_ON_CPU_HERE) {
  const auto threads = group.present();
  const auto rank = group.thread_rank();
  for (unsigned distance = 1; distance < threads; distance *= 2) {
    const bool is_there = rank >= distance;
    const T other =
        group.shfl(value, static_cast<int>(is_there ? rank - distance : rank), file, line);
    if (is_there) value = operation(other, value);
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, CUDA_ON_CPU_HERE) {
  return inclusive_scan(group, value, plus<T>(), file, line);
}

/// Each thread gets the combination of the values before its own, the first one T().
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation operation, CUDA_ON_CPU_HERE) {
  const T scanned = inclusive_scan(group, value, operation, file, line);
  const auto rank = group.thread_rank();
  const T before = group.shfl(scanned, static_cast<int>(rank > 0 ? rank - 1 : 0), file, line);
  return rank > 0 ? before : T();
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, CUDA_ON_CPU_HERE) {
  return exclusive_scan(group, value, plus<T>(), file, line);
}

/// An inclusive scan that goes on from an atomic, which gets the combination of all.
template <class Group, class Atomic, class T, class Operation>
T inclusive_scan_update(const Group& group, Atomic& total, T value, Operation operation,
                        CUDA_ON_CPU_HERE) {
  const T scanned = inclusive_scan(group, value, operation, file, line);
  const auto last = group.present() - 1;
  T before{};
  if (group.thread_rank() == last) {
    before = total.load();
    while (!total.compare_exchange_weak(before, operation(before, scanned))) {
    }
  }
  return operation(group.shfl(before, static_cast<int>(last), file, line), scanned);
}
template <class Group, class Atomic, class T>
T inclusive_scan_update(const Group& group, Atomic& total, T value, CUDA_ON_CPU_HERE) {
  return inclusive_scan_update(group, total, value, plus<T>(), file, line);
}
/// The same without the own value.
template <class Group, class Atomic, class T, class Operation>
T exclusive_scan_update(const Group& group, Atomic& total, T value, Operation operation,
                        CUDA_ON_CPU_HERE) {
  const T scanned = inclusive_scan(group, value, operation, file, line);
  const auto last = group.present() - 1;
  const auto rank = group.thread_rank();
  T before{};
  if (rank == last) {
    before = total.load();
    while (!total.compare_exchange_weak(before, operation(before, scanned))) {
    }
  }
  before = group.shfl(before, static_cast<int>(last), file, line);
  const T neighbour = group.shfl(scanned, static_cast<int>(rank > 0 ? rank - 1 : 0), file, line);
  return rank > 0 ? operation(before, neighbour) : before;
}
template <class Group, class Atomic, class T>
T exclusive_scan_update(const Group& group, Atomic& total, T value, CUDA_ON_CPU_HERE) {
  return exclusive_scan_update(group, total, value, plus<T>(), file, line);
}

}  // namespace cooperative_groups
