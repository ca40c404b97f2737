/// @file
/// Copies from global to shared memory by a group, which go on until the group waits for them.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda/barrier"
#include "../cuda_on_cpu/async_copy.h"

namespace cooperative_groups {

/// Copies so many bytes; each thread of the group has a part in it.
template <class Group>
void memcpy_async(const Group& group, void* to, const void* from, std::size_t bytes, CUDA_ON_CPU_HERE) {
  cuda_on_cpu::begin_group_copy(group, to, from, bytes, place);
  cuda_on_cpu::commit_async_copies();
}
/// Copies as many elements as there are at both ends.
template <class Group, class T>
void memcpy_async(const Group& group, T* to, std::size_t room, const T* from, std::size_t elements, CUDA_ON_CPU_HERE) {
  const std::size_t count = room < elements ? room : elements;
  memcpy_async(group, static_cast<void*>(to), from, count * sizeof(T), place);
}

/// All copies of the group are done.
template <class Group>
void wait(const Group& group, CUDA_ON_CPU_HERE) {
  cuda_on_cpu::finish_async_copies(0);
  group.sync(place);
}
/// The same of all copies but the latest ones.
template <unsigned latest, class Group>
void wait_prior(const Group& group, CUDA_ON_CPU_HERE) {
  cuda_on_cpu::finish_async_copies(latest);
  group.sync(place);
}

}  // namespace cooperative_groups
