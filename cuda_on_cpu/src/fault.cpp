/// @file
/// Faults of the processor, failed assertions, misaligned pointers and AddressSanitizer's findings,
/// told in the terms of CUDA: which kernel, which block, which thread, which line.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/memory.hpp"

namespace cuda_on_cpu {
namespace {

constexpr int max_frames = 24;

/// What the handler finds out; the rest is done on the stack of the fiber, which is given up
/// anyway.
struct Fault {
  int signal = 0;
  bool writes = false;
  bool address_known = false;
  std::uintptr_t address = 0;
  std::uintptr_t instructions[max_frames];  ///< the fault's own, then those of the calls around it
  int frames = 0;
};
__thread Fault* fault = nullptr;

/// Frees it at the end of the thread.
struct FaultOwner {
  FaultOwner() = default;
  ~FaultOwner() { delete std::exchange(fault, nullptr); }
  FaultOwner(const FaultOwner&) = delete;
  FaultOwner& operator=(const FaultOwner&) = delete;
};

struct sigaction previous_handlers[NSIG];

_Unwind_Reason_Code collect(_Unwind_Context* context, void* data) {
  auto& found = *static_cast<Fault*>(data);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0 || found.frames == max_frames) return _URC_END_OF_STACK;
  // A return address belongs to the line after the call.
  found.instructions[found.frames++] = before_instruction != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

/// The innermost line of the program's own source; else the function, else the address.
std::string place_of(const Fault& found) {
  for (int i = 0; i < found.frames; ++i) {
    std::string place = place_of_instruction(found.instructions[i]);
    if (!place.empty()) return place;
  }
  const std::string function = function_at(found.instructions[0]);
  return function.empty() ? "instruction " + hexadecimal(found.instructions[0]) : function;
}

std::string describe(const Fault& found, Worker& worker) {
  if (found.signal == SIGFPE) {
    return "an integer division that has no result (by zero, or the smallest number by -1), of "
           "which "
           "a GPU would make some number.";
  }
  if (found.signal == SIGILL) return "an instruction was executed that stands for a trap.";
  const Fiber& fiber = *worker.running();
  const auto stack = reinterpret_cast<std::uintptr_t>(fiber.stack);
  if (found.address >= stack && found.address < stack + guard_bytes) {
    return "the thread's local variables and calls need more than the " + std::to_string(fiber_stack_bytes >> 10U) +
           " KiB that a thread has: a large local array, or an endless recursion.";
  }
  const std::string access = found.writes ? "writes" : "reads";
  if (!found.address_known) return access + " through a pointer that is no address at all.";
  const std::string what = access + " address " + hexadecimal(found.address) + ", ";
  if (found.address < 65536) {
    return access + " through a null pointer (address " + hexadecimal(found.address) + ").";
  }
  if (worker.block().arena->contains(reinterpret_cast<const void*>(found.address))) {
    const std::size_t dynamic = worker.launch().configuration.shared;
    return what + (dynamic == 0 ? "outside of shared memory: the launch gave it no dynamic part."
                                : "outside of the " + std::to_string(dynamic) +
                                      " bytes of dynamic shared memory that the launch gave.");
  }
  if (const std::string host = host_memory == nullptr ? "" : host_memory->describe(found.address); !host.empty()) {
    return what + host;
  }
  const std::string allocation = describe_address(found.address);
  return what + (allocation.empty() ? "where there is no memory." : allocation + ".");
}

/// Continues here after a fault in a kernel, on the emptied stack of the thread that made it.
[[noreturn]] void after_fault() {
  Worker& worker = *this_worker;
  const Fault found = *fault;
  const cudaError_t error =
      found.signal == SIGFPE || found.signal == SIGILL ? cudaErrorLaunchFailure : cudaErrorIllegalAddress;
  if (worker.launch().fail(error)) {
    report_in_kernel(worker, place_of(found), describe(found, worker));
  }
  worker.abandon(error);
}

/// Makes the interrupted code go on in after_fault() once the handler returns.
void redirect(ucontext_t& context, const Fiber& fiber) {
  unpoison(fiber.stack, fiber.stack_bytes);  // what the interrupted code has forbidden there
  const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(fiber.stack_top) & ~std::uintptr_t{63};
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 64 - 8);
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&after_fault);
#elif defined(__aarch64__)
  context.uc_mcontext.sp = top - 64;
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&after_fault);
#else
#error "Say here how to go on elsewhere after a signal on this processor."
#endif
}

void on_fault(int signal, siginfo_t* information, void* raw_context) {
  const int error_number = errno;
  if (information->si_code <= 0) {  // somebody has sent it: no instruction is to blame
    sigaction(signal, &previous_handlers[signal], nullptr);
    raise(signal);
    errno = error_number;
    return;
  }
  auto& context = *static_cast<ucontext_t*>(raw_context);
  static Fault of_host;
  Worker* const worker = this_worker;
  const bool in_kernel = worker != nullptr && worker->runs_kernel();
  if (!in_kernel && host_memory != nullptr &&
      host_memory->restore(reinterpret_cast<std::uintptr_t>(information->si_addr)))
    return;
  Fault& found = in_kernel && fault != nullptr ? *fault : of_host;
  found = {};
  found.signal = signal;
  found.address = reinterpret_cast<std::uintptr_t>(information->si_addr);
  found.address_known = information->si_code != SI_KERNEL;
#if defined(__x86_64__)
  found.writes = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
  found.instructions[0] = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  found.instructions[0] = context.uc_mcontext.pc;
#endif
  const std::uintptr_t instruction = found.instructions[0];
  _Unwind_Backtrace(collect, &found);
  // Drop the handler's own frames.
  int own = 0;
  while (own < found.frames && found.instructions[own] != instruction) ++own;
  if (own < found.frames) {
    found.frames -= own;
    std::memmove(found.instructions, found.instructions + own,
                 sizeof *found.instructions * static_cast<std::size_t>(found.frames));
  } else {
    found.instructions[0] = instruction;
    found.frames = 1;
  }
  if (in_kernel && fault != nullptr) {
    redirect(context, *worker->running());
    errno = error_number;
    return;
  }
  const bool memory_fault = signal == SIGSEGV || signal == SIGBUS;
  const std::string allocation = memory_fault ? describe_address(found.address) : "";
  if (!allocation.empty()) {
    const std::optional<Allocation> hit = find_allocation(found.address);
    const bool inside = hit && !hit->freed && found.address >= hit->begin && found.address < hit->end();
    report(place_of(found) + ": host code " + (found.writes ? "wrote" : "read") +
           (inside ? " device memory at " : " address ") + hexadecimal(found.address) + ", " + allocation +
           (inside ? "; use cudaMemcpy()." : "."));
    _exit(1);
  }
  if (memory_fault && is_device_variable(found.address)) {
    report(place_of(found) + ": host code " + (found.writes ? "wrote " : "read ") +
           name_of_device_variable(found.address) + "; use cudaMemcpy" + (found.writes ? "To" : "From") + "Symbol().");
    _exit(1);
  }
  // Not ours: the instruction is tried again, and whoever was here before is told of the fault.
  sigaction(signal, &previous_handlers[signal], nullptr);
  errno = error_number;
}

// ------------------------------------------------------------------------------------------------
// Accesses through pointers that are not aligned as their type demands. A processor does not mind,
// a GPU does. Kernels are compiled with -fsanitize=alignment, whose check calls what is defined
// here, so that no library of the compiler is needed.

#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER  // whose library has these functions itself

/// What the compiler says about a check; g++ and clang have it in common.
struct CheckedType {
  std::uint16_t kind;
  std::uint16_t information;
  char name[1];  ///< in quotation marks, and longer than this
};
struct CheckedAccess {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const CheckedType* type;
  unsigned char log_alignment;
  unsigned char kind;  ///< 0 loads, 1 stores; others take a reference or an address
};

/// Types that demand more than allocations have: whether a GPU, on which allocations begin at
/// multiples of 256, would find the address aligned.
bool is_aligned_on_gpu(std::uintptr_t address, std::size_t alignment) {
  if (this_worker->block().arena->contains(reinterpret_cast<const void*>(address))) return true;
  const std::optional<Allocation> found = find_allocation(address);
  return found && (address - found->begin) % alignment == 0;
}

/// 'const struct float4', as g++ calls it, and 'const float4', as clang does, are 'float4'.
std::string plain_name(std::string name) {
  for (const std::string word : {"const ", "volatile ", "struct "}) {
    const std::size_t begin = name.find(word);
    if (begin != std::string::npos) name.erase(begin, word.size());
  }
  return name;
}

/// A local array is in registers on a GPU, or wherever its compiler puts it.
bool is_local(std::uintptr_t address) {
  const Fiber& fiber = *this_worker->running();
  const auto begin = reinterpret_cast<std::uintptr_t>(fiber.stack);
  return address >= begin && address < begin + fiber.stack_bytes;
}

std::string describe(const CheckedAccess& access, std::uintptr_t address, std::size_t alignment) {
  const std::string allocation = describe_address(address);
  const char* const verb = access.kind == 0 ? "reads" : (access.kind == 1 ? "writes" : "uses");
  return std::string(verb) + " a " + plain_name(access.type->name) + " at address " + hexadecimal(address) +
         (allocation.empty() ? "" : ", " + allocation) + ", which is not a multiple of " + std::to_string(alignment) +
         ", as it must be for this type.";
}

/// Host code may do it, and what a GPU would find right is passed over.
void check(const CheckedAccess& access, std::uintptr_t address, std::uintptr_t instruction) {
  if (this_worker == nullptr || !this_worker->runs_kernel()) return;
  const std::size_t alignment = std::size_t{1} << access.log_alignment;
  if (address % alignment == 0 || is_local(address)) return;
  if (alignment > 16 && address % 16 == 0 && is_aligned_on_gpu(address, alignment)) return;
  Worker& worker = *this_worker;
  if (worker.launch().fail(cudaErrorMisalignedAddress)) {
    const std::string place = place_of_instruction(instruction);
    // Where the access stands in one of the runtime's headers, the call of it counts.
    report_in_kernel(worker, place.empty() ? to_string(Place{access.file, access.line}) : place,
                     describe(access, address, alignment));
  }
  worker.abandon(cudaErrorMisalignedAddress);
}

#endif

}  // namespace

void watch_faults() {
  if (fault == nullptr) {
    thread_local const FaultOwner owner;
    static_cast<void>(owner);
    fault = new Fault;
    stack_t current{};
    sigaltstack(nullptr, &current);
    constexpr std::size_t bytes = std::size_t{128} << 10;
    if ((current.ss_flags & SS_DISABLE) != 0 || current.ss_size < bytes) {
      void* const stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const stack_t alternate{stack, 0, bytes};
      if (stack != MAP_FAILED) sigaltstack(&alternate, nullptr);
    }
  }
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      sigaction(signal, &action, &previous_handlers[signal]);
    }
  });
}

void failed_assertion(const char* expression, Place place) {
  this_worker->fail(cudaErrorAssert, place, [&] { return std::string("assertion '") + expression + "' failed."; });
}

}  // namespace cuda_on_cpu

/// Takes the C library's place, so that assert() in a kernel ends the kernel and not the program.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
  using namespace cuda_on_cpu;
  if (this_worker != nullptr && this_worker->runs_kernel()) failed_assertion(expression, {file, line});
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}

#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER
/// Called by compiled code, under the name that compilers have agreed on.
extern "C" void __ubsan_handle_type_mismatch_v1(cuda_on_cpu::CheckedAccess* access, std::uintptr_t address) {
  cuda_on_cpu::check(*access, address, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}
/// The same where the compiler has been told that a mismatch ends the program.
extern "C" void __ubsan_handle_type_mismatch_v1_abort(cuda_on_cpu::CheckedAccess* access, std::uintptr_t address) {
  cuda_on_cpu::check(*access, address, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}
/// Likewise, where code comes to __builtin_unreachable().
extern "C" void __ubsan_handle_builtin_unreachable(void* /*place*/) { __builtin_trap(); }
#else
/// AddressSanitizer calls it before its own report, which knows nothing of blocks and threads.
extern "C" void __asan_on_error() {
  using namespace cuda_on_cpu;
  if (this_worker != nullptr && this_worker->runs_kernel()) {
    report_in_kernel(*this_worker, "", "AddressSanitizer found what follows.");
  }
}
/// The same of UndefinedBehaviorSanitizer, which that preset brings along.
extern "C" void __ubsan_on_report() {
  using namespace cuda_on_cpu;
  if (this_worker != nullptr && this_worker->runs_kernel()) {
    report_in_kernel(*this_worker, "", "UndefinedBehaviorSanitizer found what this is about.");
  }
}
#endif
