/// @file
/// 16 bytes at a time: the most that a thread can load, store or copy in one instruction.
#pragma once

#include <cstdint>

#include <cuda_pipeline_primitives.h>
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

/// Loads a vector into a thread's registers.
template <typename T, int length = Vector<T>::length>
__device__ __forceinline__ void load_vector(T* registers, const T* from) {
  const auto vector = *reinterpret_cast<const Vector<T, length>*>(from);
#pragma unroll
  for (int i = 0; i < length; ++i) registers[i] = vector.values[i];
}

/// Loads `count` neighbours of a row of `n` numbers; `column` is a multiple of `count`. Leaves out
/// those past the end: another thread may be writing there.
/// @param vectors whether they can be loaded as one.
template <int count, typename T>
__device__ __forceinline__ void load_neighbours(const T* row, int column, int n, bool vectors,
                                                T* values) {
  if (column >= n) return;
  if (vectors) {
    load_vector<T, count>(values, row + column);
  } else {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (column + j < n) values[j] = row[column + j];
    }
  }
}

/// out = alpha sums + beta out, for as many elements as a vector has; `count` elements remain in
/// the row of C. With beta = 0, `out` is not read.
/// @param has_vectors whether is_aligned() holds for C; then a vector is entirely inside or
/// outside.
template <typename T>
__device__ void store_vector(T* out, const T* sums, Index count, T alpha, T beta,
                             bool has_vectors) {
  constexpr int length = Vector<T>::length;
  if (!has_vectors) {
#pragma unroll
    for (int i = 0; i < length; ++i) {
      if (i < count) out[i] = beta == 0 ? alpha * sums[i] : alpha * sums[i] + beta * out[i];
    }
  } else if (count > 0) {
    auto* const vector = reinterpret_cast<Vector<T>*>(out);
    Vector<T> result = {};
    if (beta != 0) result = *vector;
#pragma unroll
    for (int i = 0; i < length; ++i) {
      result.values[i] = beta == 0 ? alpha * sums[i] : alpha * sums[i] + beta * result.values[i];
    }
    *vector = result;
  }
}

//! [copy_async]
/// Requests 4, 8 or 16 bytes, or as many zeros if `is_inside` is false. Both addresses are aligned.
/// The copy goes to `offset` bytes behind `to`; a constant one becomes part of the instruction.
///
/// CUDA's __pipeline_memcpy_async() does the same, but branches on the number of zeros, and keeps
/// the compiler from holding values in registers across it. Neither is needed, since callers wait
/// at barriers before they read what has been copied.
template <int bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool is_inside,
                                           int offset = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16) {  // bypasses the L1 cache
    asm volatile(
        "{.reg .u32 there; add.u32 there, %0, %3; cp.async.cg.shared.global [there], [%1], 16, "
        "%2;}" ::"r"(address),
        "l"(from), "r"(is_inside ? bytes : 0), "r"(offset));
  } else {
    asm volatile(
        "{.reg .u32 there; add.u32 there, %0, %4; cp.async.ca.shared.global [there], [%1], %2, "
        "%3;}" ::"r"(address),
        "l"(from), "n"(bytes), "r"(is_inside ? bytes : 0), "r"(offset));
  }
#else
  __pipeline_memcpy_async(static_cast<char*>(to) + offset, from, bytes, is_inside ? 0 : bytes);
#endif
}
//! [copy_async]

}  // namespace stagewise::shared_memory
