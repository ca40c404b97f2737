/// @file
/// The host's memory in programs of compile.sh, which a kernel must not touch: the heap is taken away while it runs.
/// What else a launch is given, it is given an address for that leads nowhere.
#include "cuda_on_cpu/host_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/heap.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming): the linker's
// names.
extern "C" {
extern char etext;
extern char __data_start;
extern char _end;
int __real_main(int argc, char** argv, char** environment);
}

namespace cuda_on_cpu {
namespace {

constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Where a piece of the host's memory is, and the addresses that a kernel gets instead, for which there is no memory.
struct Decoy {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uintptr_t instead;

  bool has(std::uintptr_t address) const { return address - begin < end - begin; }
  bool hides(std::uintptr_t address) const { return address - instead < end - begin; }
};

Decoy make_decoy(std::uintptr_t begin, std::uintptr_t end) {
  const std::uintptr_t instead = reserve(end - begin, PROT_NONE);
  return instead == 0 ? Decoy{0, 0, 0} : Decoy{begin, end, instead};
}

/// The stack of the calling thread.
Decoy decoy_of_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 0, 0};
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  return make_decoy(address_of(begin), address_of(begin) + bytes);
}

class TakenMemory final : public HostMemory {
 public:
  TakenMemory() {
    // Where addresses are small, what is copied may be numbers like them.
    const std::uintptr_t begin = address_of(&etext) / page_bytes * page_bytes;
    if (begin >> 32U != 0) variables_ = make_decoy(begin, address_of(&_end));
    if (heap().begin() != 0) blocks_ = make_decoy(heap().begin(), heap().begin() + span_bytes * max_spans);
  }

  const KernelCall* take_away(const char* kernel, const KernelCall& call) override {
    const std::size_t bytes = rounded_up(call.bytes(), 64);
    auto* const words = static_cast<std::uintptr_t*>(std::aligned_alloc(64, bytes));
    if (words == nullptr) return &call;
    // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): bits
    std::memcpy(words, static_cast<const void*>(&call), call.bytes());
    if (settings().protect) {
      if (depth_++ == 0 && is_alone() && is_worth_it(launches_[kernel]++ < 3)) {
        protection_time.measure([this] { protect(PROT_NONE); }, aftermath_);
      }
      for (std::size_t i = 1; i < call.bytes() / sizeof *words; ++i) {
        const std::uintptr_t word = words[i];
        words[i] = heap().has(word) && !is_protected_ && !find_allocation(word) ? word - blocks_.begin + blocks_.instead
                                                                                : hidden(word);
      }
    }
    return reinterpret_cast<const KernelCall*>(words);
  }

  void give_back(const KernelCall* call) override {
    std::free(const_cast<KernelCall*>(call));  // NOLINT(*-no-malloc): bits
    if (settings().protect && --depth_ == 0 && is_protected_) {
      protection_time.measure([this] { protect(PROT_READ | PROT_WRITE); });
    }
  }

  bool restore(std::uintptr_t address) override {
    if (!heap().has(address)) return false;
    protect(PROT_READ | PROT_WRITE);
    return true;
  }

  std::string describe(std::uintptr_t address) override {
    const std::string host = "which is memory of the host: ";
    if (blocks_.hides(address)) address += blocks_.begin - blocks_.instead;
    if (heap().has(address)) {
      protect(PROT_READ | PROT_WRITE);
      const Header* const header = heap().header_of(address);
      if (header == nullptr || header->bytes == freed || header->from == nullptr)
        return host + "nobody has it any more.";
      const std::string place = place_of(header->from);
      return host + "at byte " + std::to_string(address - address_of(header + 1)) + " of the " +
             counted(header->bytes, "byte") + " allocated" + (place.empty() ? "" : " in " + place) +
             "; a kernel needs memory of cudaMalloc() or cudaMallocManaged().";
    }
    if (stack_.hides(address)) {
      return host + "a local variable; a kernel needs memory of cudaMalloc(), or the value as an argument.";
    }
    if (!variables_.hides(address)) return "";
    address += variables_.begin - variables_.instead;
    const std::string name = function_at(address);
    constexpr std::string_view table = "vtable for ";
    if (name.starts_with(table)) {
      return host + "the virtual functions of '" + name.substr(table.size()) +
             "', of an object that the host constructed; construct it in a kernel.";
    }
    if (is_device_variable(address)) {
      return "which is the address that the host knows of " + name_of_device_variable(address) +
             "; name it in the kernel, or use cudaGetSymbolAddress().";
    }
    return host + (name.empty() ? "a constant" : "the variable '" + name + "'") +
           "; a kernel needs memory of cudaMalloc(), or a __device__ variable.";
  }

  bool may_be_symbol(const void* symbol, std::size_t bytes) override {
    const std::uintptr_t address = address_of(symbol);
    const auto* const text = static_cast<const char*>(symbol);
    const bool is_string = address < address_of(&__data_start) && std::memchr(text, 0, bytes) == text + bytes - 1;
    return variables_.has(address) && !is_string;
  }

  void copied(void* begin, std::size_t bytes, bool to_device) override {
    if (bytes > max_searched) return;
    const std::uintptr_t first = rounded_up(address_of(begin), sizeof(std::uintptr_t));
    const std::uintptr_t end = address_of(begin) + bytes;
    for (auto* word = at<std::uintptr_t>(first); address_of(word + 1) <= end; ++word) {
      if (*word > page_bytes) *word = to_device ? hidden(*word) : shown(*word);
    }
  }

 private:
  /// Whether the program has no threads but those of the runtime: to others, memory is not to be taken away.
  static bool is_alone() {
    struct stat tasks = {};
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3 + helping_threads;
  }

  bool is_worth_it(bool is_new) {
    const std::size_t bytes = heap().end() - heap().begin();
    if (bytes > measured_bytes_ + measured_bytes_ / 2) {
      measured_bytes_ = bytes;
      aftermath_ = aftermath(bytes);
    }
    return (is_new && aftermath_ < std::chrono::milliseconds(5)) || protection_time.is_short(aftermath_);
  }

  /// How long the first accesses to the heap's pages take after it has been taken away: very long where the machine
  /// is a virtual one and the pages are small.
  static ProtectionTime::Clock::duration aftermath(std::size_t bytes) {
    constexpr std::size_t samples = 32;
    ProtectionTime::Clock::duration sum{};
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uintptr_t piece =
          rounded_up(heap().begin() + bytes / samples * i, large_page_bytes) - large_page_bytes;
      if (piece < heap().begin()) continue;
      mprotect(at(piece), large_page_bytes, PROT_NONE);
      mprotect(at(piece), large_page_bytes, PROT_READ | PROT_WRITE);
      static_cast<void>(*at<volatile char>(piece));  // of a large page, the first access is that of all others
      const auto before = ProtectionTime::Clock::now();
      static_cast<void>(*at<volatile char>(piece + large_page_bytes / 2));
      sum += ProtectionTime::Clock::now() - before;
    }
    return sum / samples * static_cast<std::int64_t>(bytes / page_bytes);
  }

  /// What a kernel gets for what may be the address of a variable or a local variable of the host.
  std::uintptr_t hidden(std::uintptr_t word) {
    thread_local const Decoy stack = decoy_of_stack();
    stack_ = stack;
    if (stack.has(word) && word > address_of(__builtin_frame_address(0)) && !find_allocation(word)) {
      return word - stack.begin + stack.instead;
    }
    const bool is_variable = variables_.has(word) && !is_managed_variable(word) && !is_asked_for(word);
    return is_variable && !find_allocation(word) ? word - variables_.begin + variables_.instead : word;
  }
  /// The reverse.
  std::uintptr_t shown(std::uintptr_t word) const {
    for (const Decoy& decoy : {stack_, variables_}) {
      if (decoy.hides(word)) return word - decoy.instead + decoy.begin;
    }
    return word;
  }

  void protect(int protection) {
    is_protected_ = protection == PROT_NONE;
    mprotect(at(heap().begin()), heap().end() - heap().begin(), protection);
    if (!is_protected_) return;
    for (const Allocation& registered : registered_memory()) {
      if (!heap().has(registered.begin)) continue;
      const std::uintptr_t first = registered.begin / page_bytes * page_bytes;
      mprotect(at(first), rounded_up(registered.end() - first, page_bytes), PROT_READ | PROT_WRITE);
    }
  }

  /// Longer copies are numbers.
  static constexpr std::size_t max_searched = std::size_t{16} << 20;
  Decoy variables_{};
  Decoy blocks_{};
  Decoy stack_{};  ///< of the thread that has launched last
  std::map<const char*, unsigned> launches_;
  std::size_t measured_bytes_ = std::size_t{64} << 20;  ///< below, it is not worth measuring
  ProtectionTime::Clock::duration aftermath_{};         ///< of a heap of that size
  unsigned depth_ = 0;
  std::atomic<bool> is_protected_ = false;
};

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

/// Is called in place of the program's main().
extern "C" int __wrap_main(int argc, char** argv, char** environment) {
  if (std::getenv("STAGEWISE_CPU_PROTECT") == nullptr) {  // NOLINT(concurrency-mt-unsafe)
    settings().protect = settings().limits_protection = true;
  }
  // MPI reads device memory, too.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) settings().protect = false;  // NOLINT(concurrency-mt-unsafe)
  static TakenMemory taken;
  if (settings().protect) {
    host_memory = &taken;
    watch_faults();
    const DeviceMemoryAccess ends;  // and variables are protected from now on
  }
  return __real_main(argc, argv, environment);
}
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming)
