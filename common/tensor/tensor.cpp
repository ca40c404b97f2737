#include "tensor/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>

#include <sys/mman.h>
#include <sys/resource.h>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// One cache line, and the width of the widest vector register of today's processors.
constexpr std::align_val_t alignment{64};

class HostMemory final : public Memory {
 public:
  void* allocate(std::size_t bytes, CodeLine /*asker*/) override {
    void* pointer = ::operator new(bytes, alignment, std::nothrow);
    if (pointer == nullptr) {
      throw Error("the host has too little memory: " + size_text(bytes) +
                  " more are needed; a smaller network or --batch-size needs less");
    }
    return pointer;
  }

  void release(void* pointer) noexcept override { ::operator delete(pointer, alignment); }

  Room room() const override { return {available_host_memory(), "the host's memory"}; }
};

constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

/// The number behind "Name:" in a file of /proc, in bytes.
std::uint64_t value_in(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    if (word != name + ":") continue;
    std::uint64_t kibibytes = 0;
    return lines >> kibibytes ? kibibytes << 10U : unknown;
  }
  return unknown;
}

std::uint64_t left_of_machine() {
  const std::uint64_t memory = value_in("/proc/meminfo", "MemAvailable");
  const std::uint64_t swap = value_in("/proc/meminfo", "SwapFree");
  return memory == unknown || swap == unknown ? memory : memory + swap;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  const std::uint64_t used = value_in("/proc/self/status", "VmSize");
  return used == unknown ? unknown : limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

/// The limit alone: what others in the group use may be what they can give back.
std::uint64_t limit_of_control_group() {
  std::uint64_t least = unknown;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;  // the second version of control groups
    for (std::string path = line.substr(3);; path.erase(path.rfind('/'))) {
      std::uint64_t limit = 0;  // "max" is none
      if (std::ifstream("/sys/fs/cgroup" + path + "/memory.max") >> limit) {
        least = std::min(least, limit);
      }
      if (path.find('/') == std::string::npos) break;
    }
  }
  std::uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory/memory.limit_in_bytes") >> limit) {
    least = std::min(least, limit);
  }
  return least;
}

}  // namespace

Memory& host_memory() {
  static HostMemory memory;
  return memory;
}

std::size_t available_host_memory() {
  return std::min({left_of_machine(), left_of_address_space(), limit_of_control_group()});
}

bool can_be_had(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

}  // namespace stagewise
