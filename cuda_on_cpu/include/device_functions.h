/// @file
/// What kernels call: barriers, warp functions, atomics, fences, loads, fast mathematics, bits.
#pragma once

#include <math.h>  // with the overloads for float at global scope, as CUDA has them

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <assert.h>
#include <time.h>

#include "cuda_on_cpu/kernel.hpp"
#include "cuda_runtime_api.h"

// ------------------------------------------------------------------------------------------------
// Barriers. Each remembers the line it was called from, for the report on one that not all reach.

inline void __syncthreads(CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  block_barrier(Vote::none, false, "__syncthreads", {file, line});
}
inline int __syncthreads_count(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(
      block_barrier(Vote::count, predicate != 0, "__syncthreads_count", {file, line}));
}
inline int __syncthreads_and(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(
      block_barrier(Vote::all, predicate != 0, "__syncthreads_and", {file, line}));
}
inline int __syncthreads_or(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(
      block_barrier(Vote::any, predicate != 0, "__syncthreads_or", {file, line}));
}

inline void __threadfence() {
  cuda_on_cpu::fence();
}
inline void __threadfence_block() {
  cuda_on_cpu::fence();
}
inline void __threadfence_system() {
  cuda_on_cpu::fence();
}

// ------------------------------------------------------------------------------------------------
// Warps

namespace cuda_on_cpu {

constexpr unsigned full_warp = 0xffffffffU;

/// Nothing is exchanged: a barrier of the warp. The runtime knows it by its address.
void only_wait(Lane* lanes, unsigned mask);

template <class Function>
void for_lanes(unsigned mask, Function function) {
  for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(__builtin_ctz(mask)));
}

/// Each lane names the lane it reads. What it finds at one that takes no part is undefined on a
/// GPU; here all its bits are set, so that a number is not one.
inline void shuffle(Lane* lanes, unsigned mask) {
  for_lanes(mask, [&](unsigned lane) {
    const unsigned from = lanes[lane].argument;
    lanes[lane].result = (mask >> from & 1U) != 0 ? lanes[from].value : ~std::uint64_t{0};
  });
}
inline void ballot(Lane* lanes, unsigned mask) {
  unsigned votes = 0;
  for_lanes(mask, [&](unsigned lane) {
    if (lanes[lane].value != 0) votes |= 1U << lane;
  });
  for_lanes(mask, [&](unsigned lane) { lanes[lane].result = votes; });
}
inline void match_any(Lane* lanes, unsigned mask) {
  for_lanes(mask, [&](unsigned lane) {
    unsigned same = 0;
    for_lanes(mask, [&](unsigned other) {
      if (lanes[other].value == lanes[lane].value) same |= 1U << other;
    });
    lanes[lane].result = same;
  });
}

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// All lanes get the combination of all values, taken in the order of the lanes.
template <class T, class Operation>
void reduce(Lane* lanes, unsigned mask) {
  bool first = true;
  T sum{};
  for_lanes(mask, [&](unsigned lane) {
    const T value = from_bits<T>(lanes[lane].value);
    sum = first ? value : Operation()(sum, value);
    first = false;
  });
  for_lanes(mask, [&](unsigned lane) { lanes[lane].result = to_bits(sum); });
}
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

inline unsigned own_lane() {
  return thread_in_block() & 31U;
}

template <class T>
T shuffle_from(unsigned mask, T value, unsigned from, const char* what, Place place) {
  return from_bits<T>(exchange(mask, to_bits(value), from, shuffle, what, place));
}

}  // namespace cuda_on_cpu

inline void __syncwarp(unsigned mask = 0xffffffffU, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  exchange(mask, 0, 0, only_wait, "__syncwarp", {file, line});
}
inline unsigned __activemask() {
  return cuda_on_cpu::active_lanes();
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned segment = own_lane() & ~(static_cast<unsigned>(width) - 1U);
  const unsigned from = segment | (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1U));
  return shuffle_from(mask, value, from, "__shfl_sync", {file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const bool inside = (lane & (static_cast<unsigned>(width) - 1U)) >= delta;
  return shuffle_from(mask, value, inside ? lane - delta : lane, "__shfl_up_sync", {file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const unsigned last = static_cast<unsigned>(width) - 1U;
  const bool inside = (lane & last) + delta <= last;
  return shuffle_from(mask, value, inside ? lane + delta : lane, "__shfl_down_sync", {file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  const unsigned lane = own_lane();
  const unsigned from = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned segments = ~(static_cast<unsigned>(width) - 1U);
  // A lane of an earlier segment may be read, one of a later may not.
  const bool inside = from < 32 && (from & segments) <= (lane & segments);
  return shuffle_from(mask, value, inside ? from : lane, "__shfl_xor_sync", {file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<unsigned>(
      exchange(mask, predicate != 0 ? 1 : 0, 0, ballot, "__ballot_sync", {file, line}));
}
inline int __any_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return exchange(mask, predicate != 0 ? 1 : 0, 0, ballot, "__any_sync", {file, line}) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return exchange(mask, predicate != 0 ? 0 : 1, 0, ballot, "__all_sync", {file, line}) == 0 ? 1 : 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<unsigned>(
      exchange(mask, to_bits(value), 0, match_any, "__match_any_sync", {file, line}));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, CUDA_ON_CPU_HERE) {
  const unsigned same = __match_any_sync(mask, value, file, line);
  *predicate = same == (mask & cuda_on_cpu::active_lanes()) ? 1 : 0;
  return *predicate != 0 ? same : 0U;
}

#define CUDA_ON_CPU_WARP_REDUCE(name, T, Operation)                                            \
  inline T name(unsigned mask, T value, CUDA_ON_CPU_HERE) {                                    \
    using namespace cuda_on_cpu;                                                  \
    return from_bits<T>(                                                                     \
        exchange(mask, to_bits(value), 0, reduce<T, Operation>, #name, {file, line}));       \
  }
CUDA_ON_CPU_WARP_REDUCE(__reduce_add_sync, int, Add)
CUDA_ON_CPU_WARP_REDUCE(__reduce_add_sync, unsigned, Add)
CUDA_ON_CPU_WARP_REDUCE(__reduce_min_sync, int, Min)
CUDA_ON_CPU_WARP_REDUCE(__reduce_min_sync, unsigned, Min)
CUDA_ON_CPU_WARP_REDUCE(__reduce_max_sync, int, Max)
CUDA_ON_CPU_WARP_REDUCE(__reduce_max_sync, unsigned, Max)
CUDA_ON_CPU_WARP_REDUCE(__reduce_and_sync, unsigned, And)
CUDA_ON_CPU_WARP_REDUCE(__reduce_or_sync, unsigned, Or)
CUDA_ON_CPU_WARP_REDUCE(__reduce_xor_sync, unsigned, Xor)
#undef CUDA_ON_CPU_WARP_REDUCE

// ------------------------------------------------------------------------------------------------
// Atomics. They order memory more strictly than a GPU's do, which costs nothing on this processor
// and lets ThreadSanitizer understand a ticket that is drawn after a fence.

namespace cuda_on_cpu {

/// value = operation(value) until nobody has come between; the value before.
template <class T, class Operation>
T atomic_update(T* address, Operation operation) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(T) == sizeof(Bits));
  Bits* const place = reinterpret_cast<Bits*>(address);
  Bits before = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    T value;
    __builtin_memcpy(&value, &before, sizeof(T));
    const T changed = operation(value);
    Bits after;
    __builtin_memcpy(&after, &changed, sizeof(T));
    if (__atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return value;
    }
  }
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ATOMIC(name, T, expression)                                                \
  inline T name(T* address, T operand) {                                                     \
    return cuda_on_cpu::atomic_update(                                            \
        address, [operand]([[maybe_unused]] T old) -> T { return expression; });             \
  }                                                                                          \
  inline T name##_block(T* address, T operand) { return name(address, operand); }            \
  inline T name##_system(T* address, T operand) { return name(address, operand); }
#define CUDA_ON_CPU_NATIVE_ATOMIC(name, T, builtin)                                            \
  inline T name(T* address, T operand) {                                                     \
    return builtin(address, operand, __ATOMIC_ACQ_REL);                                      \
  }                                                                                          \
  inline T name##_block(T* address, T operand) { return name(address, operand); }            \
  inline T name##_system(T* address, T operand) { return name(address, operand); }
#define CUDA_ON_CPU_INTEGER_ATOMICS(T)                                                         \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicAdd, T, __atomic_fetch_add)                                  \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicSub, T, __atomic_fetch_sub)                                  \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicAnd, T, __atomic_fetch_and)                                  \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicOr, T, __atomic_fetch_or)                                    \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicXor, T, __atomic_fetch_xor)                                  \
  CUDA_ON_CPU_NATIVE_ATOMIC(atomicExch, T, __atomic_exchange_n)                                \
  CUDA_ON_CPU_ATOMIC(atomicMin, T, operand < old ? operand : old)                              \
  CUDA_ON_CPU_ATOMIC(atomicMax, T, operand > old ? operand : old)                              \
  inline T atomicCAS(T* address, T compare, T value) {                                       \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_ACQ_REL,           \
                                __ATOMIC_ACQUIRE);                                           \
    return compare;                                                                          \
  }                                                                                          \
  inline T atomicCAS_block(T* address, T compare, T value) {                                 \
    return atomicCAS(address, compare, value);                                               \
  }                                                                                          \
  inline T atomicCAS_system(T* address, T compare, T value) {                                \
    return atomicCAS(address, compare, value);                                               \
  }
CUDA_ON_CPU_INTEGER_ATOMICS(int)
CUDA_ON_CPU_INTEGER_ATOMICS(unsigned)
CUDA_ON_CPU_INTEGER_ATOMICS(long long)
CUDA_ON_CPU_INTEGER_ATOMICS(unsigned long long)
CUDA_ON_CPU_ATOMIC(atomicInc, unsigned, old >= operand ? 0U : old + 1U)
CUDA_ON_CPU_ATOMIC(atomicDec, unsigned, old == 0U || old > operand ? operand : old - 1U)
CUDA_ON_CPU_ATOMIC(atomicAdd, float, old + operand)
CUDA_ON_CPU_ATOMIC(atomicAdd, double, old + operand)
CUDA_ON_CPU_ATOMIC(atomicExch, float, operand)
#undef CUDA_ON_CPU_INTEGER_ATOMICS
#undef CUDA_ON_CPU_NATIVE_ATOMIC
#undef CUDA_ON_CPU_ATOMIC

// ------------------------------------------------------------------------------------------------
// Loads and stores past a cache: here there is only one way to memory.

template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcg(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldca(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcs(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldlu(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcv(const T* pointer) {
  return *pointer;
}
template <class T>
void __stwb(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stcg(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stcs(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stwt(T* pointer, T value) {
  *pointer = value;
}

// ------------------------------------------------------------------------------------------------
// Mathematics. The fast functions are the exact ones here. The C library declares some of their
// names for itself, without defining them; hence the language linkage.

extern "C" {
inline float __expf(float x) noexcept {
  return std::exp(x);
}
inline float __exp10f(float x) noexcept {
  return std::pow(10.0F, x);
}
inline float __logf(float x) noexcept {
  return std::log(x);
}
inline float __log2f(float x) noexcept {
  return std::log2(x);
}
inline float __log10f(float x) noexcept {
  return std::log10(x);
}
inline float __sinf(float x) noexcept {
  return std::sin(x);
}
inline float __cosf(float x) noexcept {
  return std::cos(x);
}
inline float __tanf(float x) noexcept {
  return std::tan(x);
}
inline float __powf(float x, float y) noexcept {
  return std::pow(x, y);
}
}
inline float __tanhf(float x) {
  return std::tanh(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __saturatef(float x) {
  return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
}
inline float rsqrtf(float x) {
  return 1 / std::sqrt(x);
}
inline double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
inline float rsqrt(float x) {
  return 1 / std::sqrt(x);
}
inline float rcbrtf(float x) {
  return 1 / std::cbrt(x);
}
#define CUDA_ON_CPU_ROUNDED(T, add, sub, mul, div, fma_, rcp, sqrt_) \
  inline T add(T x, T y) { return x + y; }                         \
  inline T sub(T x, T y) { return x - y; }                         \
  inline T mul(T x, T y) { return x * y; }                         \
  inline T div(T x, T y) { return x / y; }                         \
  inline T fma_(T x, T y, T z) { return std::fma(x, y, z); }       \
  inline T rcp(T x) { return 1 / x; }                              \
  inline T sqrt_(T x) { return std::sqrt(x); }
CUDA_ON_CPU_ROUNDED(float, __fadd_rn, __fsub_rn, __fmul_rn, __fdiv_rn, __fmaf_rn, __frcp_rn,
                  __fsqrt_rn)
CUDA_ON_CPU_ROUNDED(double, __dadd_rn, __dsub_rn, __dmul_rn, __ddiv_rn, __fma_rn, __drcp_rn,
                  __dsqrt_rn)
#undef CUDA_ON_CPU_ROUNDED
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}

#define CUDA_ON_CPU_MIN_MAX(T)                            \
  constexpr T min(T a, T b) { return b < a ? b : a; }   \
  constexpr T max(T a, T b) { return a < b ? b : a; }
CUDA_ON_CPU_MIN_MAX(int)
CUDA_ON_CPU_MIN_MAX(unsigned)
CUDA_ON_CPU_MIN_MAX(long)
CUDA_ON_CPU_MIN_MAX(unsigned long)
CUDA_ON_CPU_MIN_MAX(long long)
CUDA_ON_CPU_MIN_MAX(unsigned long long)
#undef CUDA_ON_CPU_MIN_MAX
inline float min(float a, float b) {
  return std::fmin(a, b);
}
inline float max(float a, float b) {
  return std::fmax(a, b);
}
inline double min(double a, double b) {
  return std::fmin(a, b);
}
inline double max(double a, double b) {
  return std::fmax(a, b);
}
inline double min(float a, double b) {
  return std::fmin(static_cast<double>(a), b);
}
inline double max(float a, double b) {
  return std::fmax(static_cast<double>(a), b);
}
inline double min(double a, float b) {
  return std::fmin(a, static_cast<double>(b));
}
inline double max(double a, float b) {
  return std::fmax(a, static_cast<double>(b));
}

// ------------------------------------------------------------------------------------------------
// Bits

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<long long>(x) * y >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline int __mul24(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) << 40 >> 40) *
                          (static_cast<long long>(y) << 40 >> 40));
}
inline int __float_as_int(float x) {
  return cuda_on_cpu::from_bits<int>(cuda_on_cpu::to_bits(x));
}
inline unsigned __float_as_uint(float x) {
  return cuda_on_cpu::from_bits<unsigned>(cuda_on_cpu::to_bits(x));
}
inline float __int_as_float(int x) {
  return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x));
}
inline float __uint_as_float(unsigned x) {
  return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x));
}
inline long long __double_as_longlong(double x) {
  return cuda_on_cpu::from_bits<long long>(cuda_on_cpu::to_bits(x));
}
inline double __longlong_as_double(long long x) {
  return cuda_on_cpu::from_bits<double>(cuda_on_cpu::to_bits(x));
}
inline int __float2int_rn(float x) {
  return static_cast<int>(std::nearbyint(x));
}
inline int __float2int_rz(float x) {
  return static_cast<int>(x);
}
inline int __double2int_rn(double x) {
  return static_cast<int>(std::nearbyint(x));
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __double2float_rn(double x) {
  return static_cast<float>(x);
}

// ------------------------------------------------------------------------------------------------
// Time and the end of it

/// Nanoseconds, which are "cycles" of a processor of 1 GHz.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
/// Lets the other threads run: one that polls what they write would else wait for ever.
inline void __nanosleep(unsigned /*nanoseconds*/) {
  cuda_on_cpu::let_others_run();
}
[[noreturn]] inline void __trap(CUDA_ON_CPU_HERE) {
  cuda_on_cpu::trap({file, line});
}
