/// @file
/// Cooperative groups: the grid, the block, tiles of it, and lanes that a branch keeps together.
#pragma once

#include "cuda_on_cpu/coalesced_group.h"
#include "cuda_on_cpu/tile_group.h"
#include "cuda_runtime.h"

namespace cooperative_groups {

template <class Group>
void sync(const Group& group, CUDA_ON_CPU_HERE) {
  group.sync(file, line);
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
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups
