/// @file
/// Libraries that work in the host's code but use device memory: cuBLAS, cuRAND, Thrust, CUB.
#include "cuda_on_cpu/libraries.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

bool is_variable(std::uintptr_t address) {
  return is_asked_for(address) || is_device_variable(address) || is_managed_variable(address);
}

/// What is wrong with memory that a library is given; empty if nothing is.
std::string check(const LibraryMemory& memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.begin);
  if (memory.bytes == 0 || is_variable(address)) return "";
  if (address == 0) return std::string(memory.name) + " is a null pointer.";
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) return std::string(memory.name) + " should be device memory, but is memory of the host.";
  if (found->freed || address < found->begin || address > found->end())
    return std::string(memory.name) + " is " + describe_address(address) + ".";
  if (memory.bytes > found->end() - address) {
    return std::string(memory.name) + " begins " + describe_address(address) + ", of which " +
           counted(found->end() - address, "byte") + " are left, but " + std::to_string(memory.bytes) + " are to be " +
           (memory.is_written ? "written." : "read.");
  }
  return "";
}

/// While a library works, what a program's function objects and iterators access is not the host's doing.
class LibraryWork {
 public:
  LibraryWork() : was_watched_(observer != nullptr && observer->watches_host) {
    is_running = true;
    if (observer != nullptr) observer->watches_host = false;
  }
  ~LibraryWork() {
    is_running = false;
    if (observer != nullptr) observer->watches_host = was_watched_;
  }
  LibraryWork(const LibraryWork&) = delete;
  LibraryWork& operator=(const LibraryWork&) = delete;

  static inline thread_local bool is_running = false;

 private:
  bool was_watched_;
};

}  // namespace

cudaError_t run_library(const char* call, cudaStream_t stream, std::initializer_list<LibraryMemory> memory,
                        std::function<void()> work, Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  for (const LibraryMemory& used : memory) {
    const std::string wrong = check(used);
    if (!wrong.empty()) return refuse(place, std::string(call) + ": " + wrong);
  }
  const auto observed = [used = std::vector<LibraryMemory>(memory), work = std::move(work)] {
    for (const LibraryMemory& one : used) {
      if (!one.is_written) note_copied(one.begin, one.bytes);
    }
    {
      const LibraryWork running;
      work();
    }
    for (const LibraryMemory& one : used) {
      if (one.is_written) note_filled(one.begin, one.bytes);
    }
  };
  return record(submit(
      stream, observed, [&]() -> Work { return observed; }, cudaGraphNodeTypeKernel));
}

void note_at(Place place, const char* sentence) {
  std::fprintf(stderr, "%s: note: %s\n", to_string(place).c_str(), sentence);
}

void note_library_wrote(const void* begin, std::size_t bytes) { note_filled(begin, bytes); }

void sort_for_library(void* records, std::size_t bytes, std::size_t count,
                      const std::function<bool(const void*, const void*)>& less) {
  auto* const begin = static_cast<char*>(records);
  const std::vector<char> before(begin, begin + bytes * count);
  std::vector<const char*> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = &before[bytes * i];
  std::stable_sort(order.begin(), order.end(), [&](const char* a, const char* b) { return less(a, b); });
  for (std::size_t i = 0; i < count; ++i) std::memcpy(begin + bytes * i, order[i], bytes);
}

void open_device_memory(cudaStream_t stream) {
  if (LibraryWork::is_running || runs_in_kernel() || wait_for(stream) != cudaSuccess) return;
  open_memory_to_host();
}

void* allocate_for_library(std::size_t bytes, bool is_managed) {
  if (runs_in_kernel()) return std::malloc(bytes);
  void* pointer = nullptr;
  const Place place{"a vector of Thrust", 0};
  if (allocate(&pointer, bytes, is_managed ? MemoryKind::managed : MemoryKind::device, place) != cudaSuccess)
    return nullptr;
  if (pointer != nullptr) note_filled(pointer, bytes);
  return pointer;
}

void free_for_library(void* pointer) {
  if (runs_in_kernel()) {
    std::free(pointer);
    return;
  }
  const bool was_open = is_memory_open_to_host();
  free_memory("cudaFree()", pointer, false, {"a vector of Thrust", 0});
  if (was_open) open_memory_to_host();
}

}  // namespace cuda_on_cpu
