#include "cuda_on_cpu/memory.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/memory_shadow.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

// Of device_variables.ld: null in programs that are not linked with it.
extern "C" {
[[gnu::weak]] extern char cuda_on_cpu_device_begin;
[[gnu::weak]] extern char cuda_on_cpu_device_end;
[[gnu::weak]] extern char cuda_on_cpu_zeros_begin;
[[gnu::weak]] extern char cuda_on_cpu_zeros_end;
[[gnu::weak]] extern char cuda_on_cpu_managed_begin;
[[gnu::weak]] extern char cuda_on_cpu_managed_end;
}

namespace cuda_on_cpu {
namespace {

/// Freed memory stays unmapped, so that its use is a fault, until this much has been freed since.
constexpr std::size_t max_freed = 4096;
constexpr std::size_t max_freed_bytes = std::size_t{1} << 36;
/// Fresh memory up to this size is filled with NaNs, since that of a GPU is not zero either.
constexpr std::size_t max_filled = std::size_t{64} << 20;
/// What fills the rest of an allocation's pages, a NaN for whoever reads it.
constexpr unsigned canary = 0xffffc5c5;
/// So much before each allocation is looked at after every launch; what is further away, as far as
/// there is not more of it than this.
constexpr std::size_t always_watched = 64;
constexpr std::size_t watched_bytes = std::size_t{64} << 10;

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> allocations;  ///< by where their pages begin
  std::map<std::uintptr_t, Allocation> graves;       ///< those freed lately
  std::deque<std::uintptr_t> freed;                  ///< the same, oldest first
  std::size_t freed_bytes = 0;
  std::map<int, std::size_t> used;  ///< bytes of each device
  int readers = 0;                  ///< of protected memory
  bool is_protected = true;         ///< while there are none
  bool is_open = false;             ///< to host code, until the next reader has come and gone
};

Memory& memory() {
  static auto* const memory = new Memory;  // never destroyed: others free memory at exit
  return *memory;
}

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

template <class T = void>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

Allocation* find(std::uintptr_t address) {
  for (auto* const table : {&memory().allocations, &memory().graves}) {
    const auto next = table->upper_bound(address);
    if (next == table->begin()) continue;
    Allocation& found = std::prev(next)->second;
    if (address < found.pages + found.page_bytes) return &found;
  }
  return nullptr;
}

/// The bytes before and behind an allocation that share its pages.
struct Slack {
  std::uintptr_t before;
  std::uintptr_t after_end;
};
Slack slack_of(const Allocation& allocation) {
  return {allocation.pages + surroundings, allocation.pages + allocation.page_bytes - surroundings};
}

/// What a byte of the slack should be.
unsigned char canary_at(std::uintptr_t address) {
  return static_cast<unsigned char>(canary >> (address % sizeof canary * 8));
}

void fill_slack(const Allocation& allocation) {
  const Slack slack = slack_of(allocation);
  std::uintptr_t i = slack.before;  // whole words up to the beginning, which is a multiple of 16
  for (; i < allocation.begin; i += sizeof canary) std::memcpy(at(i), &canary, sizeof canary);
  for (i = allocation.end(); i < slack.after_end; ++i) *at<unsigned char>(i) = canary_at(i);
}

bool has_slack(const Allocation& allocation) {
  return !allocation.freed && !allocation.registered && !allocation.imported;
}

void set_protection(const Allocation& allocation, int protection) {
  if (allocation.kind != MemoryKind::device || allocation.freed || allocation.registered) return;
  mprotect(at(allocation.pages + surroundings), allocation.page_bytes - 2 * surroundings, protection);
}

/// Of all device memory.
void set_protection(Memory& all, int protection) {
  protection_time.measure([&] {
    for (const auto& [pages, allocation] : all.allocations) set_protection(allocation, protection);
    mprotect(&cuda_on_cpu_device_begin, static_cast<std::size_t>(&cuda_on_cpu_device_end - &cuda_on_cpu_device_begin),
             protection);
    mprotect(&cuda_on_cpu_zeros_begin, static_cast<std::size_t>(&cuda_on_cpu_zeros_end - &cuda_on_cpu_zeros_begin),
             protection);
  });
}

bool is_between(std::uintptr_t address, const char* begin, const char* end) {
  return address >= reinterpret_cast<std::uintptr_t>(begin) && address < reinterpret_cast<std::uintptr_t>(end);
}

std::string allocated(const Allocation& allocation) {
  const std::string place = to_string(allocation.place);
  return "the " + counted(allocation.bytes, "byte") +
         (place.empty() ? " of another process" : " allocated in " + place);
}

/// Where an address is, seen from an allocation.
std::string describe(const Allocation& allocation, std::uintptr_t address) {
  if (allocation.freed) {
    return "in " + allocated(allocation) + ", which have been freed in " + to_string(allocation.freed_at);
  }
  if (address < allocation.begin) {
    return counted(allocation.begin - address, "byte") + " before the beginning of " + allocated(allocation);
  }
  if (address >= allocation.end()) {
    return counted(address - allocation.end(), "byte") + " beyond the end of " + allocated(allocation);
  }
  return "at byte " + std::to_string(address - allocation.begin) + " of " + allocated(allocation);
}

/// Unmaps what was freed longest ago.
void forget_oldest_freed(Memory& all) {
  const auto oldest = all.graves.find(all.freed.front());
  all.freed.pop_front();
  all.freed_bytes -= oldest->second.page_bytes;
  munmap(at(oldest->second.pages), oldest->second.page_bytes);
  all.graves.erase(oldest);
}

/// Pages that nobody may touch yet. Those kept for what was freed are given up where the host has
/// no others, for addresses are limited, too (`ulimit -v`).
void* reserve(Memory& all, std::size_t bytes) {
  for (;;) {
    void* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages != MAP_FAILED || all.freed.empty()) return pages;
    forget_oldest_freed(all);
  }
}

/// Says where an allocation's slack has been written to; empty if it has not.
/// @param before how many bytes before the allocation to look at.
std::string find_overrun(const Allocation& allocation, std::size_t before) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  static_cast<void>(allocation);  // is found at once
  static_cast<void>(before);
#else
  const Slack slack = slack_of(allocation);
  for (std::uintptr_t i = allocation.begin - before; i < allocation.begin; i += sizeof canary) {
    if (*at<unsigned>(i) == canary) continue;
    while (*at<unsigned char>(i) == canary_at(i)) ++i;
    return counted(allocation.begin - i, "byte") + " before the beginning of " + allocated(allocation);
  }
  for (std::uintptr_t i = allocation.end(); i < slack.after_end; ++i) {
    if (*at<unsigned char>(i) != canary_at(i)) {
      return counted(i - allocation.end(), "byte") + " beyond the end of " + allocated(allocation);
    }
  }
#endif
  return "";
}

void repair(const Allocation& allocation) {
  const Slack slack = slack_of(allocation);
  unpoison(at(slack.before), slack.after_end - slack.before);
  fill_slack(allocation);
}

/// Gives the pages back but keeps their addresses, for a while.
void unmap(Memory& all, Allocation& allocation, Place place) {
  if (observer != nullptr) {
    ++observer->frees;
    observer->freed(allocation.begin);
  }
  if (allocation.shared_file >= 0) close(allocation.shared_file);
  allocation.shared_file = -1;
  const Slack slack = slack_of(allocation);
  unpoison(at(slack.before), slack.after_end - slack.before);
  static_cast<void>(mmap(at(allocation.pages), allocation.page_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
  if (allocation.kind != MemoryKind::host && !allocation.imported) {
    all.used[allocation.device] -= allocation.bytes;
  }
  allocation.freed = true;
  allocation.freed_at = place;
  all.freed.push_back(allocation.pages);
  all.freed_bytes += allocation.page_bytes;
  all.graves.insert(all.allocations.extract(allocation.pages));
  while (all.freed.size() > max_freed || all.freed_bytes > max_freed_bytes) {
    forget_oldest_freed(all);
  }
}

}  // namespace

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind, Place place, unsigned flags,
                     cudaMemPool_t pool) {
  if (pointer == nullptr) return record(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > max_bytes) return record(cudaErrorMemoryAllocation);
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const int device = current_device();
  std::size_t& used = all.used[device];
  if (kind != MemoryKind::host) {
    const std::size_t free = settings().device_memory - std::min(used, settings().device_memory);
    if (bytes > free) return record(cudaErrorMemoryAllocation);
  }
  Allocation allocation;
  const std::size_t pages = rounded_up(bytes, guard_bytes);
  allocation.page_bytes = pages + 2 * surroundings;
  void* const mapped = reserve(all, allocation.page_bytes);
  if (mapped == MAP_FAILED) return record(cudaErrorMemoryAllocation);
  allocation.pages = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t end = allocation.pages + allocation.page_bytes - surroundings;
  if (mprotect(at(allocation.pages + surroundings), pages, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, allocation.page_bytes);
    return record(cudaErrorMemoryAllocation);
  }
  if (pages >= std::size_t{4} << 20) madvise(mapped, allocation.page_bytes, MADV_HUGEPAGE);
  allocation.begin = end - rounded_up(bytes, 16);
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.device = device;
  allocation.place = place;
  allocation.flags = flags;
  allocation.pool = pool;
  if (bytes <= max_filled && kind == MemoryKind::device) fill_with_nan(static_cast<char*>(at(allocation.begin)), bytes);
  fill_slack(allocation);
  const Slack slack = slack_of(allocation);
  poison(at(slack.before), allocation.begin - slack.before);
  poison(at(allocation.end()), slack.after_end - allocation.end());
  if (kind != MemoryKind::host) {
    used += bytes;
    ++counters().allocations;
  }
  if (settings().protect) {
    watch_faults();  // of this thread, which may be the first to use what it may not
    if (all.readers == 0 && all.is_protected) set_protection(allocation, PROT_NONE);
  }
  *pointer = at(allocation.begin);
  all.allocations[allocation.pages] = allocation;
  if (observer != nullptr) {
    ++observer->allocations;
    if (kind == MemoryKind::device) observer->allocated(allocation.begin, bytes);
  }
  return cudaSuccess;
}

cudaError_t release_allocation(const char* call, void* pointer, bool host, Place place) {
  if (pointer == nullptr) return cudaSuccess;
  const DeviceMemoryAccess access;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation* const found = find(address);
  const auto refuse_call = [&](const std::string& why) { return refuse(place, std::string(call) + ": " + why); };
  if (found == nullptr || found->registered) {
    return refuse_call("the pointer does not come from " +
                       std::string(host ? "cudaHostAlloc() or cudaMallocHost()." : "cudaMalloc()."));
  }
  if (found->freed && found->begin == address) {
    return refuse_call(allocated(*found) + " have been freed before, in " + to_string(found->freed_at) + ".");
  }
  if (found->begin != address) {
    return refuse_call("the pointer is not the beginning of an allocation but " + describe(*found, address) + ".");
  }
  if ((found->kind == MemoryKind::host) != host) {
    return refuse_call(std::string("the pointer comes from ") + (!host ? "cudaHostAlloc(), use cudaFreeHost()."
                                                                 : found->kind == MemoryKind::managed
                                                                     ? "cudaMallocManaged(), use cudaFree()."
                                                                     : "cudaMalloc(), use cudaFree()."));
  }
  if (found->imported) return refuse_call("the memory is another process's, use cudaIpcCloseMemHandle().");
  const std::string overrun = find_overrun(*found, found->begin - slack_of(*found).before);
  unmap(all, *found, place);
  if (!overrun.empty()) {
    report_at(place, std::string(call) + ": host code has written " + overrun + ".");
  }
  return cudaSuccess;
}

/// cudaFree() and cudaFreeHost(), which destructors call: nothing is thrown.
cudaError_t free_memory(const char* call, void* pointer, bool host, Place place) {
  try {
    const cudaError_t error = may_wait(call);
    if (error != cudaSuccess) return error;
    if (pointer != nullptr) wait_for_device();
    return release_allocation(call, pointer, host, place);
  } catch (const std::bad_alloc&) {
    return record(cudaErrorMemoryAllocation);
  }
}

std::size_t bytes_of(cudaMemPool_t pool) {
  const std::lock_guard lock(memory().mutex);
  std::size_t bytes = 0;
  for (const auto& [pages, allocation] : memory().allocations) {
    if (allocation.pool == pool) bytes += allocation.bytes;
  }
  return bytes;
}

void fill_with_nan(char* memory, std::size_t bytes) {
  const char even = static_cast<char>(0xf0U | ((16U - settings().seed % 16U) & 15U));
  if (even == '\xff') {
    std::memset(memory, 0xff, bytes);
    return;
  }
  char* const target = memory;
  for (std::size_t i = 0; i < bytes; ++i) target[i] = i % 2 == 0 ? even : '\xff';
}

std::optional<Allocation> find_allocation(std::uintptr_t address) {
  const std::lock_guard lock(memory().mutex);
  const Allocation* const found = find(address);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string describe_address(std::uintptr_t address) {
  const std::optional<Allocation> found = find_allocation(address);
  return found ? describe(*found, address) : "";
}

void check_for_overruns(RunningLaunch& launch) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  std::size_t left = watched_bytes;
  for (auto& [pages, allocation] : all.allocations) {
    if (!has_slack(allocation)) continue;
    const std::size_t before = allocation.begin - slack_of(allocation).before;
    const std::size_t watched = std::min(before, std::max(left, always_watched));
    left -= std::min(left, watched);
    const std::string overrun = find_overrun(allocation, watched);
    if (overrun.empty()) continue;
    repair(allocation);
    if (launch.fail(cudaErrorIllegalAddress)) {
      report_at(launch.place,
                "kernel '" + std::string(launch.kernel) + "', launched here, has written " + overrun + ".");
    }
  }
}

std::vector<Allocation> registered_memory() {
  const std::lock_guard lock(memory().mutex);
  std::vector<Allocation> found;
  for (const auto& [pages, allocation] : memory().allocations) {
    if (allocation.registered) found.push_back(allocation);
  }
  return found;
}

bool is_device_variable(std::uintptr_t address) {
  return is_between(address, &cuda_on_cpu_device_begin, &cuda_on_cpu_device_end) ||
         is_between(address, &cuda_on_cpu_zeros_begin, &cuda_on_cpu_zeros_end);
}

std::string name_of_device_variable(std::uintptr_t address) {
  const std::string name = function_at(address);
  return name.empty() ? "a __device__ variable" : "the __device__ variable '" + name + "'";
}

bool is_managed_variable(std::uintptr_t address) {
  return is_between(address, &cuda_on_cpu_managed_begin, &cuda_on_cpu_managed_end);
}

void open_memory_to_host() {
  Memory& all = memory();
  std::unique_lock lock(all.mutex);
  if (all.is_open) return;
  all.is_open = true;
  if (settings().protect && all.readers == 0 && all.is_protected) {
    set_protection(all, PROT_READ | PROT_WRITE);
    all.is_protected = false;
  }
  if (observer == nullptr) return;
  const std::map<std::uintptr_t, Allocation> allocations = all.allocations;
  lock.unlock();                                         // the observer asks for allocations itself
  for (const auto& [pages, allocation] : allocations) {  // what host code writes is not known
    if (allocation.kind == MemoryKind::device) note_filled(at(allocation.begin), allocation.bytes);
  }
}

bool is_memory_open_to_host() {
  const std::lock_guard lock(memory().mutex);
  return memory().is_open;
}

DeviceMemoryAccess::DeviceMemoryAccess() {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  all.is_open = false;
  if (!settings().protect) return;
  if (all.readers++ > 0 || !all.is_protected) return;
  set_protection(all, PROT_READ | PROT_WRITE);
  all.is_protected = false;
}

DeviceMemoryAccess::~DeviceMemoryAccess() {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  if (all.readers == 0 || --all.readers > 0 || (settings().limits_protection && !protection_time.is_short())) return;
  set_protection(all, PROT_NONE);
  all.is_protected = true;
}

int share_allocation(std::uintptr_t begin) {
  const DeviceMemoryAccess access;
  std::unique_lock lock(memory().mutex);
  Allocation* const found = find(begin);
  if (found == nullptr || found->freed || found->begin != begin) return -1;
  if (found->shared_file >= 0) return found->shared_file;
  const std::size_t bytes = found->page_bytes - 2 * surroundings;
  const std::uintptr_t pages = found->pages + surroundings;
  const int file = memfd_create("cuda_on_cpu_device_memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  const Slack slack = slack_of(*found);
  unpoison(at(slack.before), slack.after_end - slack.before);
  // The contents go into the file, and the file takes the place of the memory.
  const std::size_t notes = observer == nullptr ? 0 : PeerWords::bytes_for(found->bytes);
  bool good = ftruncate(file, static_cast<off_t>(bytes + notes)) == 0;
  void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  good = good && copy != MAP_FAILED;
  if (good) {
    std::memcpy(copy, at(pages), bytes);
    munmap(copy, bytes);
    good = mmap(at(pages), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  }
  if (!good) {
    close(file);
    return -1;
  }
  found->shared_file = file;
  const std::size_t shared_bytes = found->bytes;
  lock.unlock();                         // the observer asks for allocations itself
  note_filled(at(begin), shared_bytes);  // the other process may have written it
  if (observer != nullptr) observer->shared(begin, shared_bytes, file, bytes);
  return file;
}

void* import_allocation(int file, std::size_t bytes, std::size_t offset, int device) {
  const std::size_t pages = rounded_up(bytes + offset, guard_bytes);
  void* const mapped =
      mmap(nullptr, pages + 2 * surroundings, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  Allocation allocation;
  allocation.pages = reinterpret_cast<std::uintptr_t>(mapped);
  allocation.page_bytes = pages + 2 * surroundings;
  allocation.begin = allocation.pages + surroundings + offset;
  allocation.bytes = bytes;
  allocation.device = device;
  allocation.imported = true;
  if (mmap(at(allocation.pages + surroundings), pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
      MAP_FAILED) {
    munmap(mapped, allocation.page_bytes);
    return nullptr;
  }
  const std::lock_guard lock(memory().mutex);
  if (settings().protect && memory().is_protected) set_protection(allocation, PROT_NONE);
  memory().allocations[allocation.pages] = allocation;
  if (observer != nullptr) {
    ++observer->allocations;
    struct stat known = {};
    if (fstat(file, &known) == 0 && static_cast<std::size_t>(known.st_size) > pages) {
      observer->shared(allocation.begin, bytes, file, pages);
    }
  }
  return at(allocation.begin);
}

bool close_import(void* pointer) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  Allocation* const found = find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == nullptr || !found->imported || found->freed) return false;
  unmap(all, *found, {});
  return true;
}

void free_all_memory() {
  const DeviceMemoryAccess access;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  std::vector<std::uintptr_t> live;
  for (const auto& [pages, allocation] : all.allocations) {
    if (!allocation.freed && !allocation.registered) live.push_back(pages);
  }
  for (const std::uintptr_t pages : live) {
    unmap(all, all.allocations.at(pages), {"cudaDeviceReset", 0});
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (pointer == nullptr || bytes == 0 || flags > 15) return record(cudaErrorInvalidValue);
  Allocation allocation;
  allocation.pages = allocation.begin = reinterpret_cast<std::uintptr_t>(pointer);
  allocation.page_bytes = allocation.bytes = bytes;
  allocation.kind = MemoryKind::host;
  allocation.registered = true;
  allocation.flags = flags;
  const std::lock_guard lock(memory().mutex);
  if (find(allocation.begin) != nullptr) return record(cudaErrorHostMemoryAlreadyRegistered);
  memory().allocations[allocation.pages] = allocation;
  if (observer != nullptr) ++observer->allocations;
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::lock_guard lock(memory().mutex);
  const Allocation* const found = find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == nullptr || !found->registered) return record(cudaErrorHostMemoryNotRegistered);
  if (observer != nullptr) {
    ++observer->frees;
    observer->freed(found->begin);
  }
  memory().allocations.erase(found->pages);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::lock_guard lock(memory().mutex);
  const std::size_t used = memory().used[current_device()];
  *total = settings().device_memory;
  *free = *total - std::min(used, *total);
  return cudaSuccess;
}
