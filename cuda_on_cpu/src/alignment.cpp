/// @file
/// Accesses through pointers that are not aligned as their type demands. A processor does not mind,
/// a GPU does. Kernels are compiled with -fsanitize=alignment, whose check calls what is defined
/// here, so that no library of the compiler is needed.
#include <cstdint>
#include <string>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"

// AddressSanitizer's library has these functions itself.
#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER

namespace cuda_on_cpu {
namespace {

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
  return std::string(verb) + " a " + plain_name(access.type->name) + " at address " +
         hexadecimal(address) + (allocation.empty() ? "" : ", " + allocation) +
         ", which is not a multiple of " + std::to_string(alignment) +
         ", as it must be for this type.";
}

/// Where the access stands in one of the runtime's headers, the call of it counts.
void report_access(const CheckedAccess& access, std::uintptr_t address, std::size_t alignment,
                   std::uintptr_t instruction) {
  const std::string place = place_of_instruction(instruction);
  report_in_kernel(*this_worker, place.empty() ? to_string(Place{access.file, access.line}) : place,
                   describe(access, address, alignment));
}

/// Host code may do it, and what a GPU would find right is passed over.
void check(const CheckedAccess& access, std::uintptr_t address, std::uintptr_t instruction) {
  if (this_worker == nullptr || !this_worker->runs_kernel()) return;
  const std::size_t alignment = std::size_t{1} << access.log_alignment;
  if (address % alignment == 0 || is_local(address)) return;
  if (alignment > 16 && address % 16 == 0 && is_aligned_on_gpu(address, alignment)) return;
  Worker& worker = *this_worker;
  if (worker.launch().fail(cudaErrorMisalignedAddress)) {
    report_access(access, address, alignment, instruction);
  }
  worker.abandon(cudaErrorMisalignedAddress);
}

}  // namespace
}  // namespace cuda_on_cpu

/// Called by compiled code, under the name that compilers have agreed on.
extern "C" void __ubsan_handle_type_mismatch_v1(cuda_on_cpu::CheckedAccess* access,
                                                std::uintptr_t address) {
  cuda_on_cpu::check(*access, address,
                     reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}
/// The same where the compiler has been told that a mismatch ends the program.
extern "C" void __ubsan_handle_type_mismatch_v1_abort(cuda_on_cpu::CheckedAccess* access,
                                                      std::uintptr_t address) {
  cuda_on_cpu::check(*access, address,
                     reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}

#endif
