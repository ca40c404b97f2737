/// @file
/// For CUDA on the CPU, whose check of every access finds races: it sees barriers, fences and
/// atomic functions, but not that a word's value says what another thread has done. So this is
/// declared, by both sides; then the check follows it, and compares the numbers of the two. On a
/// GPU, declarations are nothing.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>
#ifdef CUDA_ON_CPU_INSTRUMENTED
#include <cuda_on_cpu/declare.h>
#endif

namespace stagewise::cuda {

#ifdef CUDA_ON_CPU_INSTRUMENTED
using ::cuda_on_cpu::declare_received;
using ::cuda_on_cpu::declare_sent;
#else
/// This thread is about to store a word that says that it has come to turn `number`.
__device__ inline void declare_sent(const void* /*word*/, std::uint64_t /*number*/) {}

/// This thread has found the word of that turn, and relies on what its sender had done by then.
__device__ inline void declare_received(const void* /*word*/, std::uint64_t /*number*/) {}
#endif

}  // namespace stagewise::cuda
