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
#define CUDA_ON_CPU_OPERATION(name, Operation)                              \
  template <class T>                                                        \
  struct name {                                                             \
    T operator()(T a, T b) const { return cuda_on_cpu::Operation()(a, b); } \
  };
CUDA_ON_CPU_OPERATION(plus, Add)
CUDA_ON_CPU_OPERATION(less, Min)
CUDA_ON_CPU_OPERATION(greater, Max)
CUDA_ON_CPU_OPERATION(bit_and, And)
CUDA_ON_CPU_OPERATION(bit_or, Or)
CUDA_ON_CPU_OPERATION(bit_xor, Xor)
#undef CUDA_ON_CPU_OPERATION

}  // namespace cooperative_groups
