/// @file
/// Memory and events shared between processes: a handle names the process and its open file, which
/// the other process opens below /proc.
#include <cerrno>
#include <cstring>
#include <string>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda_on_cpu/device.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/event.hpp"
#include "cuda_on_cpu/memory.hpp"

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
constexpr std::uint64_t event_mark = 0x5354414745574556;

template <class Opaque>
Handle read_handle(const Opaque& opaque) {
  Handle handle;
  std::memcpy(&handle, &opaque, sizeof handle);
  return handle;
}

template <class Opaque>
void write_handle(Opaque* opaque, const Handle& handle) {
  std::memset(opaque, 0, sizeof *opaque);
  std::memcpy(opaque, &handle, sizeof handle);
}

/// The other process's file, or -1 with a sentence.
int open_file(const char* call, const Handle& handle, std::uint64_t mark) {
  if (handle.mark != mark) {
    report(std::string(call) + ": these bytes are no such handle.");
    return -1;
  }
  if (handle.process == getpid()) {
    report(std::string(call) +
           ": the handle comes from this very process, which must use its own "
           "pointer; CUDA refuses that, too.");
    return -1;
  }
  const std::string path =
      "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    report(std::string(call) + ": cannot open " + path + " (" + std::strerror(errno) +
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
  if (handle == nullptr || !found || found->freed || found->kind != MemoryKind::device ||
      found->imported || address < found->begin || address >= found->end()) {
    report("cudaIpcGetMemHandle(): the pointer is not device memory of this process.");
    return record(cudaErrorInvalidValue);
  }
  const int file = share_allocation(found->begin);
  if (file < 0) return record(cudaErrorMapBufferObjectFailed);
  write_handle(handle, {memory_mark, getpid(), file, found->bytes,
                        found->begin - found->pages - surroundings});
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t opaque, unsigned flags) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) {
    return record(cudaErrorInvalidValue);
  }
  const Handle handle = read_handle(opaque);
  const int file = open_file("cudaIpcOpenMemHandle()", handle, memory_mark);
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

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event_handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (event == nullptr || handle == nullptr || (event->flags & cudaEventInterprocess) == 0) {
    return record(cudaErrorInvalidResourceHandle);
  }
  if (event->shared == nullptr) {
    const int file = memfd_create("cuda_on_cpu_event", MFD_CLOEXEC);
    void* shared = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(SharedEvent)) == 0) {
      shared = mmap(nullptr, sizeof(SharedEvent), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (shared == MAP_FAILED) {
      if (file >= 0) close(file);
      return record(cudaErrorMapBufferObjectFailed);
    }
    if (event->mark.stream != nullptr) run_until(event->mark);
    event->shared = static_cast<SharedEvent*>(shared);
    event->shared->recorded = event->shared->happened = event->record_number;
    event->shared_file = file;
  }
  write_handle(handle, {event_mark, getpid(), event->shared_file, sizeof(SharedEvent), 0});
  return cudaSuccess;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t opaque) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const int file = open_file("cudaIpcOpenEventHandle()", read_handle(opaque), event_mark);
  if (file < 0) return record(cudaErrorMapBufferObjectFailed);
  void* const shared =
      mmap(nullptr, sizeof(SharedEvent), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) return record(cudaErrorMapBufferObjectFailed);
  const auto fresh = std::make_shared<Event>();
  fresh->flags = cudaEventInterprocess | cudaEventDisableTiming;
  fresh->shared = static_cast<SharedEvent*>(shared);
  fresh->record_number = fresh->shared->recorded;
  *event = add_event(fresh);
  return cudaSuccess;
}
