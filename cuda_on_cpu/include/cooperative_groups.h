/// @file
/// Cooperative groups: the grid, the block, tiles of it, and lanes that a branch keeps together.
#pragma once

#include "cuda_on_cpu/coalesced_group.h"
#include "cuda_on_cpu/tile_group.h"
#include "cuda_runtime.h"

namespace cooperative_groups {

template <class Group>
void sync(const Group& group, CUDA_ON_CPU_HERE) {
  group.sync(place);
}
template <class Group>
unsigned thread_rank(const Group& group) {
  return static_cast<unsigned>(group.thread_rank());
}
template <class Group>
unsigned group_size(const Group& group) {
  return static_cast<unsigned>(group.size());
}

/// One thread of the group calls the function.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) {
    std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  }
}
template <class T>
using plus = cuda_on_cpu::Add;
template <class T>
using less = cuda_on_cpu::Min;
template <class T>
using greater = cuda_on_cpu::Max;
template <class T>
using bit_and = cuda_on_cpu::And;
template <class T>
using bit_or = cuda_on_cpu::Or;
template <class T>
using bit_xor = cuda_on_cpu::Xor;

}  // namespace cooperative_groups
