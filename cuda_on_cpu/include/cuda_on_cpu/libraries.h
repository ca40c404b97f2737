/// @file
/// What the headers of libraries/ stand on: work in streams that uses device memory, as a kernel would.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>

#include <driver_types.h>

namespace cuda_on_cpu {

/// Memory that a library's function is given.
struct LibraryMemory {
  const char* name;  ///< of the parameter
  const void* begin;
  std::size_t bytes;
  bool is_written = false;
};

/// Does a library's work in a stream, if all memory is the device's and large enough.
/// @param call for sentences. @param work may read and write the memory.
cudaError_t run_library(const char* call, cudaStream_t stream, std::initializer_list<LibraryMemory> memory,
                        std::function<void()> work, Place place);

/// Says what is no mistake of the program.
void note_at(Place place, const char* sentence);

/// A library's work has written what was not known when it was enqueued.
void note_library_wrote(const void* begin, std::size_t bytes);

/// For kernels: sorts records of so many bytes, equal ones as they came. Nobody sees the accesses.
/// @param less says whether one comes before another.
void sort_for_library(void* records, std::size_t bytes, std::size_t count,
                      const std::function<bool(const void*, const void*)>& less);

/// For Thrust, whose algorithms are host code: waits for the stream, and makes device memory accessible until the next
/// launch or copy. Within a kernel it does nothing.
void open_device_memory(cudaStream_t stream);

/// Memory for Thrust, managed or not; null if there is none.
void* allocate_for_library(std::size_t bytes, bool is_managed);
/// Frees it; device memory stays as accessible as it was.
void free_for_library(void* pointer);

}  // namespace cuda_on_cpu
