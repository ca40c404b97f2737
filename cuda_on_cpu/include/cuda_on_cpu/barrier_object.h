/// @file
/// Behind <cuda/barrier>: a barrier that is an object, and copies that belong to one.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "cuda_on_cpu/async_copy.h"
#include "cuda_on_cpu/atomic_object.h"
#include "cuda_on_cpu/kernel.hpp"
#include "cuda_runtime_api.h"

namespace cuda {

/// What happens when all have come: nothing.
struct no_completion {
  void operator()() const {}
};

/// Threads wait at it until as many have arrived as it expects; then it begins anew.
template <thread_scope scope, class Completion = no_completion>
class barrier {
 public:
  /// The phase that an arrival belongs to.
  using arrival_token = unsigned;

  barrier() = default;
  barrier(::std::ptrdiff_t expected, Completion completion = Completion())
      : expected_(expected), pending_(expected), phase_(0), completion_(completion) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  friend void init(barrier* self, ::std::ptrdiff_t expected) { ::new (self) barrier(expected); }
  friend void init(barrier* self, ::std::ptrdiff_t expected, Completion completion) {
    ::new (self) barrier(expected, completion);
  }

  [[nodiscard]] arrival_token arrive(::std::ptrdiff_t count = 1) {
    const arrival_token token = __atomic_load_n(&phase_, __ATOMIC_ACQUIRE);
    if (__atomic_sub_fetch(&pending_, count, __ATOMIC_ACQ_REL) == 0) complete();
    return token;
  }
  void wait(arrival_token&& token, CUDA_ON_CPU_HERE) const {
    while (__atomic_load_n(&phase_, __ATOMIC_ACQUIRE) == token) {
      cuda_on_cpu::wait_for(this, "wait() of a cuda::barrier", place);
    }
  }
  void wait_parity(bool parity, CUDA_ON_CPU_HERE) const {
    while ((__atomic_load_n(&phase_, __ATOMIC_ACQUIRE) & 1U) == (parity ? 1U : 0U)) {
      cuda_on_cpu::wait_for(this, "wait_parity() of a cuda::barrier", place);
    }
  }
  void arrive_and_wait(CUDA_ON_CPU_HERE) { wait(arrive(), place); }
  void arrive_and_drop() {
    __atomic_sub_fetch(&expected_, 1, __ATOMIC_ACQ_REL);
    (void)arrive();
  }

 private:
  void complete() {
    cuda_on_cpu::AsyncCopy copy{};
    while (cuda_on_cpu::take_barrier_copy(this, copy)) cuda_on_cpu::do_copy(copy);
    completion_();
    __atomic_store_n(&pending_, __atomic_load_n(&expected_, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    __atomic_add_fetch(&phase_, 1, __ATOMIC_ACQ_REL);
    cuda_on_cpu::wake_all(this);
  }

  ::std::ptrdiff_t expected_;
  ::std::ptrdiff_t pending_;
  arrival_token phase_;
  Completion completion_;
};

/// A number of bytes with an alignment that both ends of a copy have.
template <::std::size_t alignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = alignment;
  ::std::size_t value;
  explicit aligned_size_t(::std::size_t bytes) : value(bytes) {}
  operator ::std::size_t() const { return value; }
};

/// One thread's copy, which is there when the phase ends that it waits for next.
template <thread_scope scope, class Completion>
void memcpy_async(void* to, const void* from, ::std::size_t bytes, barrier<scope, Completion>& barrier) {
  cuda_on_cpu::begin_barrier_copy(&barrier, {to, from, static_cast<unsigned>(bytes), 0});
}
/// The copy of a group, of which each thread calls this.
template <class Group, thread_scope scope, class Completion>
void memcpy_async(const Group& group, void* to, const void* from, ::std::size_t bytes,
                  barrier<scope, Completion>& barrier) {
  if (group.thread_rank() == 0) memcpy_async(to, from, bytes, barrier);
}

namespace std {

template <class Completion = no_completion>
using barrier = ::cuda::barrier<thread_scope_system, Completion>;

}  // namespace std

}  // namespace cuda
