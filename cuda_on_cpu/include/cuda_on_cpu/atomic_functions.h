/// @file
/// Atomic functions, which order memory more strictly than a GPU's do: that costs nothing on this
/// processor.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernel.hpp"
#include "vector_types.h"

namespace cuda_on_cpu {

/// What watches a program is told the truth: that they order nothing by themselves.
#ifdef CUDA_ON_CPU_INSTRUMENTED
constexpr int atomic_order = __ATOMIC_RELAXED;
constexpr int atomic_failure_order = __ATOMIC_RELAXED;
#else
constexpr int atomic_order = __ATOMIC_ACQ_REL;
constexpr int atomic_failure_order = __ATOMIC_ACQUIRE;
#endif

/// Compares and exchanges. @return what was there before.
template <class T>
T atomic_exchange_if(T* address, T compare, T value) {
  const bool is_equal =
      __atomic_compare_exchange_n(address, &compare, value, false, atomic_order, atomic_failure_order);
  note_attempt(!is_equal || compare == value);
  return compare;
}

#ifdef CUDA_ON_CPU_INSTRUMENTED
/// Reads what is to be changed; reported as the one atomic access that the whole is on a GPU.
template <class Bits>
Bits begin_update(Bits* place) {
  return __atomic_fetch_add(place, Bits{0}, atomic_order);
}
/// Compares and exchanges without being reported; see src/accesses.cpp.
template <class Bits>
bool end_update(volatile Bits* place, Bits& before, Bits after);
#else
template <class Bits>
Bits begin_update(Bits* place) {
  return __atomic_load_n(place, __ATOMIC_RELAXED);
}
template <class Bits>
bool end_update(Bits* place, Bits& before, Bits after) {
  return __atomic_compare_exchange_n(place, &before, after, false, atomic_order, atomic_failure_order);
}
#endif

/// value = operation(value) until nobody has come between; the value before.
template <class T, class Operation>
T atomic_update(T* address, Operation operation) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  static_assert(sizeof(T) == sizeof(Bits));
  Bits* const place = reinterpret_cast<Bits*>(address);
  Bits before = begin_update(place);
  for (;;) {
    T value;
    __builtin_memcpy(&value, &before, sizeof(T));
    const T changed = operation(value);
    Bits after;
    __builtin_memcpy(&after, &changed, sizeof(T));
    if (end_update(place, before, after)) {
      note_attempt(before == after);
      return value;
    }
  }
}

}  // namespace cuda_on_cpu

// The same among other threads: here it always is among all.
#define CUDA_ON_CPU_SCOPES(name, T)                                               \
  inline T name##_block(T* address, T operand) { return name(address, operand); } \
  inline T name##_system(T* address, T operand) { return name(address, operand); }
#define CUDA_ON_CPU_ATOMIC(name, T, expression)                                                                \
  inline T name(T* address, T operand) {                                                                       \
    return cuda_on_cpu::atomic_update(address, [operand]([[maybe_unused]] T old) -> T { return expression; }); \
  }                                                                                                            \
  CUDA_ON_CPU_SCOPES(name, T)
#define CUDA_ON_CPU_NATIVE_ATOMIC(name, T, builtin, same)               \
  inline T name(T* address, T operand) {                                \
    const T old = builtin(address, operand, cuda_on_cpu::atomic_order); \
    cuda_on_cpu::note_attempt(same);                                    \
    return old;                                                         \
  }                                                                     \
  CUDA_ON_CPU_SCOPES(name, T)
#define CUDA_ON_CPU_EXCHANGE_IF(name, T) \
  inline T name(T* address, T compare, T value) { return cuda_on_cpu::atomic_exchange_if(address, compare, value); }
#define CUDA_ON_CPU_ATOMIC_CAS(T)             \
  CUDA_ON_CPU_EXCHANGE_IF(atomicCAS, T)       \
  CUDA_ON_CPU_EXCHANGE_IF(atomicCAS_block, T) \
  CUDA_ON_CPU_EXCHANGE_IF(atomicCAS_system, T)
#define CUDA_ON_CPU_INTEGER_ATOMICS(T)                                                \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicAdd, T, __atomic_fetch_add, operand == 0)           \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicSub, T, __atomic_fetch_sub, operand == 0)           \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicAnd, T, __atomic_fetch_and, (old & operand) == old) \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicOr, T, __atomic_fetch_or, (old | operand) == old)   \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicXor, T, __atomic_fetch_xor, operand == 0)           \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicExch, T, __atomic_exchange_n, old == operand)       \
  CUDA_ON_CPU_ATOMIC(atomicMin, T, operand < old ? operand : old)                     \
  CUDA_ON_CPU_ATOMIC(atomicMax, T, operand > old ? operand : old)                     \
  CUDA_ON_CPU_ATOMIC_CAS(T)
CUDA_ON_CPU_INTEGER_ATOMICS(int)
CUDA_ON_CPU_INTEGER_ATOMICS(unsigned)
CUDA_ON_CPU_INTEGER_ATOMICS(long long)
CUDA_ON_CPU_INTEGER_ATOMICS(unsigned long long)
CUDA_ON_CPU_ATOMIC(atomicInc, unsigned, old >= operand ? 0U : old + 1U)
CUDA_ON_CPU_ATOMIC(atomicDec, unsigned, old == 0U || old > operand ? operand : old - 1U)
CUDA_ON_CPU_ATOMIC(atomicAdd, float, old + operand)
CUDA_ON_CPU_ATOMIC(atomicAdd, double, old + operand)
CUDA_ON_CPU_ATOMIC(atomicExch, float, operand)
CUDA_ON_CPU_ATOMIC_CAS(unsigned short)

// Of vectors each element is added atomically, not all of them together.
inline float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
inline float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
          atomicAdd(&address->w, value.w)};
}
#undef CUDA_ON_CPU_INTEGER_ATOMICS
#undef CUDA_ON_CPU_ATOMIC_CAS
#undef CUDA_ON_CPU_EXCHANGE_IF
#undef CUDA_ON_CPU_NATIVE_ATOMIC
#undef CUDA_ON_CPU_ATOMIC
#undef CUDA_ON_CPU_SCOPES
