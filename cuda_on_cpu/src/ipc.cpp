/// @file
/// Memory shared between processes: a handle names the process and its open file, which
/// the other process opens below /proc.
#include <cerrno>
#include <cstring>
#include <string>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

struct Handle {
  std::uint64_t mark;  ///< tells a handle from other bytes
  pid_t process;
  int file;
  std::uint64_t bytes;
  std::uint64_t offset;  ///< from the beginning of the file
};
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t));
constexpr std::uint64_t memory_mark = 0x5354414745574d45;

/// The other process's file, or -1 with a sentence.
int open_file(const Handle& handle) {
  const std::string call = "cudaIpcOpenMemHandle(): ";
  if (handle.mark != memory_mark) {
    report(call + "these bytes are no such handle.");
    return -1;
  }
  if (handle.process == getpid()) {
    report(call +
           "the handle comes from this very process, which must use its own pointer; CUDA refuses "
           "that, too.");
    return -1;
  }
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    report(call + "cannot open " + path + " (" + std::strerror(errno) +
           "): the other process must still run, hold the memory, belong to the same user and see "
           "the same process numbers (the same container).");
  }
  return file;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto found = find_allocation(address);
  if (handle == nullptr || !found || found->freed || found->kind != MemoryKind::device || found->imported ||
      address < found->begin || address >= found->end()) {
    return refuse({}, "cudaIpcGetMemHandle(): the pointer is not device memory of this process.");
  }
  const int file = share_allocation(found->begin);
  if (file < 0) return record(cudaErrorMapBufferObjectFailed);
  const Handle written{memory_mark, getpid(), file, found->bytes, found->begin - found->pages - surroundings};
  *handle = {};
  std::memcpy(handle, &written, sizeof written);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(PointerTo pointer, cudaIpcMemHandle_t opaque, unsigned flags) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) {
    return record(cudaErrorInvalidValue);
  }
  Handle handle;
  std::memcpy(&handle, &opaque, sizeof handle);
  const int file = open_file(handle);
  if (file < 0) return record(cudaErrorMapBufferObjectFailed);
  *pointer = import_allocation(file, handle.bytes, handle.offset, current_device());
  close(file);
  return *pointer != nullptr ? cudaSuccess : record(cudaErrorMapBufferObjectFailed);
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  wait_for_device();
  return close_import(pointer) ? cudaSuccess : record(cudaErrorInvalidValue);
}
