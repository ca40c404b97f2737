/// @file
/// What kernels call: barriers, warp functions, atomics, fences, loads, fast mathematics, bits.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>  // with the overloads for float at global scope, as CUDA has them
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_on_cpu/atomic_functions.h"
#include "cuda_on_cpu/conversion_functions.h"
#include "cuda_on_cpu/integer_functions.h"
#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/math_functions.h"
#include "cuda_on_cpu/warp_functions.h"
#include "cuda_runtime_api.h"

// ------------------------------------------------------------------------------------------------
// Barriers. Each remembers the line it was called from, for the report on one that not all reach.

inline void __syncthreads(CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  block_barrier(Vote::none, false, "__syncthreads", place);
}
inline int __syncthreads_count(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(block_barrier(Vote::count, predicate != 0, "__syncthreads_count", place));
}
inline int __syncthreads_and(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(block_barrier(Vote::all, predicate != 0, "__syncthreads_and", place));
}
inline int __syncthreads_or(int predicate, CUDA_ON_CPU_HERE) {
  using namespace cuda_on_cpu;
  return static_cast<int>(block_barrier(Vote::any, predicate != 0, "__syncthreads_or", place));
}

inline void __threadfence() { cuda_on_cpu::fence(); }
inline void __threadfence_block() { cuda_on_cpu::fence(); }
inline void __threadfence_system() { cuda_on_cpu::fence(); }

// ------------------------------------------------------------------------------------------------
// Loads and stores past a cache: here there is only one way to memory.

#define CUDA_ON_CPU_LOAD(name) \
  template <class T>           \
  T name(const T* pointer) {   \
    return *pointer;           \
  }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldcg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
CUDA_ON_CPU_LOAD(__ldcv)
#undef CUDA_ON_CPU_LOAD
#define CUDA_ON_CPU_STORE(name)    \
  template <class T>               \
  void name(T* pointer, T value) { \
    *pointer = value;              \
  }
CUDA_ON_CPU_STORE(__stwb)
CUDA_ON_CPU_STORE(__stcg)
CUDA_ON_CPU_STORE(__stcs)
CUDA_ON_CPU_STORE(__stwt)
#undef CUDA_ON_CPU_STORE

// ------------------------------------------------------------------------------------------------
// Time and the end of it

/// Nanoseconds, which are "cycles" of a processor of 1 GHz.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
/// Lets the other threads run: one that polls what they write would else wait for ever.
inline void __nanosleep(unsigned /*nanoseconds*/) { cuda_on_cpu::let_others_run(); }
[[noreturn]] inline void __trap(CUDA_ON_CPU_HERE) { cuda_on_cpu::trap(place); }

#ifndef __clang__  // which knows this word of nvcc's
#define __builtin_assume(condition) ((void)0)
#endif
