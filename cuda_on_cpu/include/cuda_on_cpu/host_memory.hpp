/// @file
/// The host's memory, which a kernel may not touch: that of a real GPU does not reach it. Only programs of compile.sh
/// have what knows it, src/host_memory.cpp: theirs are all the allocations, and the stages run as fast as ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda_on_cpu/kernel.hpp"

namespace cuda_on_cpu {

/// Takes the host's memory away while a kernel runs, and knows where it was allocated.
class HostMemory {
 public:
  HostMemory() = default;
  virtual ~HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// A kernel is about to run, on the calling thread and on those of the pool.
  /// @return the call with what a GPU would get: bits, in which pointers to the host's variables lead nowhere.
  virtual const KernelCall* take_away(const char* kernel, const KernelCall& call) = 0;
  /// It has ended.
  virtual void give_back(const KernelCall* call) = 0;
  /// Code that is no kernel's needs the memory at an address: whether it was taken away, and is there again.
  virtual bool restore(std::uintptr_t address) = 0;
  /// "which is memory of the host: a local variable of it"; empty if it is not.
  virtual std::string describe(std::uintptr_t address) = 0;
  /// Whether a __device__ variable could be there: no string, and nothing of the heap or the stack.
  virtual bool may_be_symbol(const void* symbol, std::size_t bytes) = 0;
  /// What a copy has brought to the device, or from there.
  virtual void copied(void* begin, std::size_t bytes, bool to_device) = 0;
};

/// How many OS threads the runtime has started: to run blocks, and to watch whether they end.
inline std::atomic<unsigned> helping_threads = 0;

/// Null in programs that compile.sh has not compiled.
inline HostMemory* host_memory = nullptr;

/// While it lives, the host's memory is not there for the kernel of a call.
class WithoutHostMemory {
 public:
  WithoutHostMemory(const char* kernel, const KernelCall& call)
      : call_(host_memory == nullptr ? &call : host_memory->take_away(kernel, call)) {}
  ~WithoutHostMemory() {
    if (host_memory != nullptr) host_memory->give_back(call_);
  }
  WithoutHostMemory(const WithoutHostMemory&) = delete;
  WithoutHostMemory& operator=(const WithoutHostMemory&) = delete;

  const KernelCall& call() const { return *call_; }

 private:
  const KernelCall* call_;
};

/// The time that protecting memory takes, which should stay a small part of the program's.
class ProtectionTime {
 public:
  using Clock = std::chrono::steady_clock;
  /// Whether there may be more of it, and so much at once.
  bool is_short(Clock::duration more = {}) const {
    return spent_ + more < std::chrono::milliseconds(20) + (Clock::now() - start_) / 20;
  }
  /// Calls the function, whose time counts, and what comes of it.
  template <class Function>
  void measure(Function function, Clock::duration aftermath = {}) {
    const Clock::time_point before = Clock::now();
    function();
    spent_ += Clock::now() - before + aftermath;
  }

 private:
  Clock::time_point start_ = Clock::now();
  Clock::duration spent_{};
};
inline ProtectionTime protection_time;

/// A `__device__` or `__constant__` variable, or a `__managed__` one. The translator tells the compiler where they
/// belong in programs of compile.sh; in others, none is known.
bool is_device_variable(std::uintptr_t address);
/// "the __device__ variable 'weights'", if its name is known.
std::string name_of_device_variable(std::uintptr_t address);
/// Likewise.
bool is_managed_variable(std::uintptr_t address);
/// Whether the program has asked for its address, by cudaGetSymbolAddress().
bool is_asked_for(std::uintptr_t address);

}  // namespace cuda_on_cpu
