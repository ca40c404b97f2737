/// @file
/// Copies from global to shared memory that go on while the thread does something else.
#pragma once

#include "cuda_on_cpu/async_copy.h"
#include "cuda_runtime.h"

/// Asks for a copy of 4, 8 or 16 bytes, of which the last `zfill` become zeros instead.
inline void __pipeline_memcpy_async(void* dst_shared, const void* src_global, std::size_t size_and_align,
                                    std::size_t zfill = 0, CUDA_ON_CPU_HERE) {
  cuda_on_cpu::begin_async_copy(
      {dst_shared, src_global, static_cast<unsigned>(size_and_align), static_cast<unsigned>(zfill)}, place);
}

/// What was asked for since the last call becomes a group.
inline void __pipeline_commit() { cuda_on_cpu::commit_async_copies(); }

/// Waits for all groups but the `prior` latest.
inline void __pipeline_wait_prior(std::size_t prior) { cuda_on_cpu::finish_async_copies(prior); }
