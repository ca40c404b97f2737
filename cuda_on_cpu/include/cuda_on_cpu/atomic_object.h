/// @file
/// Behind <cuda/atomic>: atomic objects, and references that make an object atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "cuda_on_cpu/kernel.hpp"

namespace cuda {

/// Among which threads an operation is atomic. Here it always is among all.
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using memory_order = ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

inline void atomic_thread_fence(memory_order /*order*/, thread_scope = thread_scope_system) { cuda_on_cpu::fence(); }

/// What atomic and atomic_ref have in common; Self has a function place().
template <class Self, class T>
class atomic_operations {
  static_assert(::std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                "CUDA on the CPU has atomics of 1, 2, 4 and 8 bytes");

 public:
  using value_type = T;

  T load(memory_order order = memory_order_seq_cst) const {
    T value;
    __atomic_load(place(), &value, static_cast<int>(order));
    cuda_on_cpu::note_attempt(true);
    return value;
  }
  void store(T value, memory_order order = memory_order_seq_cst) const {
    __atomic_store(place(), &value, static_cast<int>(order));
  }
  T exchange(T value, memory_order order = memory_order_seq_cst) const {
    T before;
    __atomic_exchange(place(), &value, &before, static_cast<int>(order));
    cuda_on_cpu::note_attempt(__builtin_memcmp(&value, &before, sizeof(T)) == 0);
    return before;
  }
  bool compare_exchange_strong(T& expected, T value, memory_order = memory_order_seq_cst,
                               memory_order = memory_order_seq_cst) const {
    const bool is_equal =
        __atomic_compare_exchange(place(), &expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    cuda_on_cpu::note_attempt(!is_equal || __builtin_memcmp(&value, &expected, sizeof(T)) == 0);
    return is_equal;
  }
  bool compare_exchange_weak(T& expected, T value, memory_order = memory_order_seq_cst,
                             memory_order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, value);
  }
  operator T() const { return load(); }
  bool is_lock_free() const { return true; }

  /// Of a pointer, by elements.
  template <class Operand = ::std::conditional_t<::std::is_pointer_v<T>, ::std::ptrdiff_t, T>>
  T fetch_add(Operand operand, memory_order order = memory_order_seq_cst) const {
    if constexpr (::std::is_integral_v<T>) {
      return __atomic_fetch_add(place(), static_cast<T>(operand), static_cast<int>(order));
    } else {
      return update([=](T old) { return static_cast<T>(old + operand); });
    }
  }
  template <class Operand = ::std::conditional_t<::std::is_pointer_v<T>, ::std::ptrdiff_t, T>>
  T fetch_sub(Operand operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return static_cast<T>(old - operand); });
  }
  T fetch_and(T operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return static_cast<T>(old & operand); });
  }
  T fetch_or(T operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return static_cast<T>(old | operand); });
  }
  T fetch_xor(T operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return static_cast<T>(old ^ operand); });
  }
  T fetch_min(T operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return operand < old ? operand : old; });
  }
  T fetch_max(T operand, memory_order = memory_order_seq_cst) const {
    return update([=](T old) { return old < operand ? operand : old; });
  }
  T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
  T operator++(int) const { return fetch_add(1); }
  T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
  T operator--(int) const { return fetch_sub(1); }
  T operator+=(T operand) const { return static_cast<T>(fetch_add(operand) + operand); }
  T operator-=(T operand) const { return static_cast<T>(fetch_sub(operand) - operand); }
  T operator&=(T operand) const { return static_cast<T>(fetch_and(operand) & operand); }
  T operator|=(T operand) const { return static_cast<T>(fetch_or(operand) | operand); }
  T operator^=(T operand) const { return static_cast<T>(fetch_xor(operand) ^ operand); }

  /// Until it is another value; the other threads go on.
  void wait(T old, memory_order order = memory_order_seq_cst) const {
    while (__builtin_memcmp(&static_cast<const T&>(load(order)), &old, sizeof(T)) == 0) {
      cuda_on_cpu::let_others_run();
    }
  }
  void notify_one() const {}
  void notify_all() const {}

 private:
  T* place() const { return static_cast<const Self*>(this)->address(); }
  template <class Operation>
  T update(const Operation& operation) const {
    T old = load();
    while (!compare_exchange_strong(old, operation(old))) {
    }
    return old;
  }
};

/// An object that is used by atomic operations only.
template <class T, thread_scope scope = thread_scope_system>
class atomic : public atomic_operations<atomic<T, scope>, T> {
 public:
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  T operator=(T value) {
    this->store(value);
    return value;
  }
  static constexpr bool is_always_lock_free = true;

 private:
  friend atomic_operations<atomic<T, scope>, T>;
  T* address() const { return &value_; }

  alignas(sizeof(T)) mutable T value_;
};

/// Atomic operations on an object that is an ordinary one.
template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public atomic_operations<atomic_ref<T, scope>, T> {
 public:
  explicit atomic_ref(T& object) : object_(&object) {}
  atomic_ref(const atomic_ref&) = default;
  T operator=(T value) const {
    this->store(value);
    return value;
  }
  static constexpr ::std::size_t required_alignment = sizeof(T);

 private:
  friend atomic_operations<atomic_ref<T, scope>, T>;
  T* address() const { return object_; }

  T* object_;
};

}  // namespace cuda

#include "cuda_on_cpu/std_names.h"

namespace cuda::std {

template <class T>
using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;

}  // namespace cuda::std
