/// @file
/// How blocks hand over their partial sums to the one that adds them up.
///
/// Blocks cannot wait for each other, but they can draw tickets: who draws the last one knows that
/// all others have done their part. No block waits, so this works however few of them run at once.
///
/// Who reads what another block has written must also know that it has arrived. A ticket beside it
/// needs a fence between the two, which waits until the value has gone through to the L2 cache. A
/// **sentinel** value needs none: memory that is all zero bits means "not there yet", and a store
/// replaces it as a whole. A sum of zero is handed on as -0, which has a bit set, and adds as
/// little as 0 does.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// Whether this block draws the last of `blocks` tickets; that says nothing about what the others
/// have written. `counter`, 0 at the beginning, is 0 again after the last. All threads call it.
__device__ inline bool draws_last_ticket(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicAdd(counter, 1U) + 1 == blocks;
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}

//! [last_block]
/// Whether this block is the last of `blocks` to call this. If so, it sees what the others wrote to
/// global memory before, and `counter`, 0 at the beginning, is 0 again. All threads call it.
__device__ inline bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __threadfence();  // what this thread has written is seen by the other blocks ...
  __syncthreads();  // ... as is what the rest of its block has written ...
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicAdd(counter, 1U) + 1 == blocks;  // ... before they see this
    if (last) *counter = 0;
    __threadfence();  // and none of what is read from here on was fetched earlier
  }
  __syncthreads();
  return last;
}
//! [last_block]

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
