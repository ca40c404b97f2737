/// @file
/// Loads and stores that another GPU takes part in.
///
/// What another GPU writes may change at any time, so the compiler must neither keep it in a
/// register nor may the L1 cache answer. `relaxed` and `sys` say so: each access is one of its own,
/// and has system scope. `release` also orders all that this thread knows to be written before, and
/// `acquire` all that it reads afterwards.
#pragma once

#include <cuda/atomic>

#include "05_mpi/all_reduce/peers.hpp"
#include "cuda/declare.cuh"

namespace stagewise::mpi {

/// A word that threads of several GPUs share.
template <typename U>
using SharedWord = ::cuda::atomic_ref<U, ::cuda::thread_scope_system>;

//! [flagged_word]
/// 8 bytes of data, and twice the number of the sum to which they belong.
///
/// A load or store of 16 bytes may be torn, but no half of it: each half has 4 bytes of data and
/// the number, so a thread that sees the number in both halves has the data. No flag and no fence
/// is needed, for twice the bytes. NCCL calls such a protocol LL, for low latency.
struct alignas(16) FlaggedWord {
  std::uint64_t low;   ///< the number in the upper half, data in the lower one
  std::uint64_t high;  ///< the same

  /// Puts data and number together.
  __device__ static FlaggedWord make(std::uint64_t data, std::uint32_t number) {
    const auto flag = static_cast<std::uint64_t>(number) << 32U;
    return {flag | (data & 0xffffffffU), flag | data >> 32U};
  }

  /// Whether the data belong to the sum with this number.
  __device__ bool has(std::uint32_t number) const {
    return low >> 32U == number && high >> 32U == number;
  }

  /// The 8 bytes.
  __device__ std::uint64_t data() const { return high << 32U | (low & 0xffffffffU); }
};
//! [flagged_word]

/// Stores a word in another GPU's memory, as one access of 16 bytes.
__device__ inline void send(FlaggedWord* to, const FlaggedWord& word) {
  cuda::declare_sent(&to->low, word.low >> 32U);
  cuda::declare_sent(&to->high, word.high >> 32U);
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(word.low),
               "l"(word.high)
               : "memory");
#else
  SharedWord<std::uint64_t>(to->low).store(word.low, ::cuda::memory_order_relaxed);
  SharedWord<std::uint64_t>(to->high).store(word.high, ::cuda::memory_order_relaxed);
#endif
}

/// Loads a word that another GPU stores in this one's memory.
__device__ inline FlaggedWord look(FlaggedWord* at) {
#ifdef __CUDA_ARCH__
  FlaggedWord word;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(word.low), "=l"(word.high)
               : "l"(at)
               : "memory");
  return word;
#else
  return {SharedWord<std::uint64_t>(at->low).load(::cuda::memory_order_relaxed),
          SharedWord<std::uint64_t>(at->high).load(::cuda::memory_order_relaxed)};
#endif
}

/// 16 bytes.
template <typename T>
struct alignas(16) PeerVector {
  static constexpr int size = 16 / sizeof(T);
  T values[size];  // NOLINT(modernize-avoid-c-arrays)
};

/// Loads 16 bytes from any GPU's memory, past the L1 cache.
template <typename T>
__device__ PeerVector<T> load_peer(const PeerVector<T>* at) {
#ifdef __CUDA_ARCH__
  const float4 bits = __ldcv(reinterpret_cast<const float4*>(at));
  return reinterpret_cast<const PeerVector<T>&>(bits);
#else
  return *at;
#endif
}

}  // namespace stagewise::mpi
