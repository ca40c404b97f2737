/// @file
/// 16 bytes at a time: the most that a thread can load or store in one instruction.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// Neighbours that are loaded as one: as many as 16 bytes hold, four floats or two doubles, unless
/// fewer are asked for. Must lie at a multiple of its size.
template <typename T, int length_ = 16 / sizeof(T)>
struct alignas(length_ * sizeof(T)) Vector {
  static constexpr int length = length_;
  T values[length];
};

/// Whether vectors begin at `data`, and at every multiple of `length` elements from there.
template <typename T>
bool is_aligned(const T* data, Index length) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Vector<T>) == 0 &&
         length % Vector<T>::length == 0;
}

}  // namespace stagewise::shared_memory
