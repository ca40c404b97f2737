/// @file
/// Loads and stores past a cache: here there is only one way to memory.
#pragma once

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
