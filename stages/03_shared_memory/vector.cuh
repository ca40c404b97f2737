/// @file
/// 16 bytes at a time: the most that a thread can load or store in one instruction.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// 16 bytes: four floats or two doubles. Must lie at a multiple of 16 bytes.
template <typename T>
struct alignas(16) Vector {
  static constexpr int length = 16 / sizeof(T);
  T values[length];
};

/// Whether vectors begin at `data`, and at every multiple of `length` elements from there.
template <typename T>
bool is_aligned(const T* data, Index length) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Vector<T>) == 0 &&
         length % Vector<T>::length == 0;
}

}  // namespace stagewise::shared_memory
