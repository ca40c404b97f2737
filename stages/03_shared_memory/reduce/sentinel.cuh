/// @file
/// Partial sums that tell by themselves whether they are there.
///
/// Who reads what another block has written must know that it has arrived. A flag beside it needs a
/// fence between the two, which waits until the value has gone through to the L2 cache. A sentinel
/// value needs none: memory that is all zero bits means "not there yet", and a store replaces it as
/// a whole. A sum of zero is handed on as -0, which has a bit set, and adds as little as 0 does.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// As many bits as a T, to be written and read as one.
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

//! [sentinel]
template <typename T>
using Slot = ::cuda::atomic_ref<Bits<T>, ::cuda::thread_scope_device>;

/// Hands a value to whoever collects it from the slot, which holds 0.
template <typename T>
__device__ void publish(Bits<T>* slot, T value) {
  if (value == 0) value = -T{0};
  Bits<T> bits;
  std::memcpy(&bits, &value, sizeof(T));
  Slot<T>(*slot).store(bits, ::cuda::memory_order_relaxed);
}

/// The sum of the values in this thread's slots: first, first + step, first + 2 step, ... below
/// `count`. Sets them back to 0. All have been published, or are about to be by threads that run.
template <typename T>
__device__ T collect(Bits<T>* slots, unsigned first, unsigned count, unsigned step) {
  constexpr int at_once = 8;
  T sum = 0;
  for (; first < count; first += at_once * step) {
    Bits<T> bits[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      Bits<T>* const slot = slots + first + i * step;
      bits[i] = first + i * step < count ? Slot<T>(*slot).load(::cuda::memory_order_relaxed) : 0;
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (first + i * step >= count) break;
      Slot<T> slot(slots[first + i * step]);
      while (bits[i] == 0) bits[i] = slot.load(::cuda::memory_order_relaxed);  // it is on its way
      slot.store(0, ::cuda::memory_order_relaxed);
      T value;
      std::memcpy(&value, &bits[i], sizeof(T));
      sum += value;
    }
  }
  return sum;
}
//! [sentinel]

}  // namespace stagewise::shared_memory
