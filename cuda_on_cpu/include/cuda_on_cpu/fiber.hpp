/// @file
/// A fiber: a stack of its own that a CUDA thread is suspended on. Switching costs about 5 ns with
/// Boost.Context; AddressSanitizer must be told of every switch.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_on_cpu/kernel.hpp"
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_on_cpu {

struct Block;

/// What a barrier of the block touches comes first and fills one line of the cache.
struct alignas(64) Fiber : Suspended {
  // The CUDA thread that it runs.
  Block* block = nullptr;
  unsigned thread = 0;  ///< counted through the block

  // What the thread waits for.
  Place place{};
  const char* what = nullptr;
  unsigned mask = 0;
  Combine combine = nullptr;
  std::uint64_t value = 0;
  unsigned argument = 0;
  const void* key = nullptr;    ///< of wait_for()
  std::uint64_t calls = 0;      ///< by which it has come to converge()
  const char* frame = nullptr;  ///< where the thread's own part of the stack begins

  /// What it has asked for with __pipeline_memcpy_async() and not waited for.
  struct RequestedCopy {
    AsyncCopy copy;
    std::uintptr_t instruction;  ///< by which it was asked for
  };
  std::vector<RequestedCopy> copies;
  std::vector<std::size_t> copy_groups;  ///< where in `copies` each group ends
  std::size_t copies_done = 0;
  std::uintptr_t copy_instruction = 0;  ///< that of the copy that is being made; 0: of none

  char* stack = nullptr;  ///< the lowest address
  std::size_t stack_bytes = 0;
  char* stack_top = nullptr;
  Fiber* next_idle = nullptr;

#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  void* fake_stack = nullptr;
#endif
};

/// To be called first thing on a stack that has been switched to.
inline void arrived(boost::context::detail::transfer_t from, [[maybe_unused]] Fiber& self) {
  static_cast<Suspended*>(from.data)->context = from.fctx;
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  auto* const previous = static_cast<Fiber*>(static_cast<Suspended*>(from.data));
  // Of an OS thread's own stack, this is where its bounds become known.
  const void* stack = nullptr;
  __sanitizer_finish_switch_fiber(self.fake_stack, &stack, &previous->stack_bytes);
  previous->stack = static_cast<char*>(const_cast<void*>(stack));
#endif
}

/// Suspends one fiber and goes on with another.
inline void jump(Fiber& from, Fiber& to) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
  arrived(boost::context::detail::jump_fcontext(to.context, static_cast<Suspended*>(&from)), from);
}

// What AddressSanitizer is told about memory that is not to be touched.
/// From here on, an access is a mistake.
inline void poison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory, bytes);
#endif
}
/// Accesses are right again.
inline void unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace cuda_on_cpu
