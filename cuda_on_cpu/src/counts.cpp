/// @file
/// Counts what kernels ask of memory, as a profiler does on a GPU: requests of warps, the 32-byte
/// sectors of global memory that they touch, and the conflicts of banks of shared memory.
///
/// The threads of a block run one after another, but those of a warp would load at once. So each
/// thread's accesses are kept until its warp has come to a barrier or its end. Then what the lanes
/// did by the same instruction, for the same number of times since the last barrier, is one
/// request.
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/launch_counts.hpp"
#include "cuda_on_cpu/observer.hpp"

namespace cuda_on_cpu {
namespace {

/// All launches of a kernel.
struct KernelCounts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;         ///< passed by blocks
  std::uint64_t distinct_loaded = 0;  ///< bytes of global memory, in whole sectors, by launch
  std::uint64_t distinct_stored = 0;
  std::map<std::pair<std::uintptr_t, AccessKind>, AccessCounts> instructions;
};

/// "1,234,567"
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string with_decimals(double number, const char* format = "%.2f") {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// "8.39 MB"
std::string size(double bytes) {
  if (bytes < 1e3) return with_decimals(bytes, "%.0f B");
  if (bytes < 1e6) return with_decimals(bytes / 1e3, "%.2f KB");
  if (bytes < 1e9) return with_decimals(bytes / 1e6, "%.2f MB");
  return with_decimals(bytes / 1e9, "%.2f GB");
}

double ratio(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

/// "4.00 sectors" of global memory, "2.00 cycles" of shared memory.
std::string per_request(AccessKind kind, const AccessCounts& counts) {
  if (kind < AccessKind::shared_load) return with_decimals(ratio(counts.sectors, counts.requests)) + " sectors";
  return with_decimals(ratio(counts.wavefronts, counts.requests)) + " cycles";
}

/// What is worse than it could be; empty if nothing is.
std::string remark(AccessKind kind, const AccessCounts& counts) {
  if (kind >= AccessKind::shared_load) {
    const std::uint64_t conflicts = counts.conflicts;
    return conflicts == 0 ? "" : grouped(conflicts) + (conflicts == 1 ? " bank conflict" : " bank conflicts");
  }
  const double used = 100 * ratio(counts.bytes, counts.sectors * sector_bytes);
  return used >= 99.5 ? "" : with_decimals(used, "%.0f") + " % of the bytes moved are asked for";
}

void print_line(const std::string& title, AccessKind kind, const AccessCounts& counts) {
  std::string said = remark(kind, counts);
  if (!said.empty()) said.insert(0, "   ");
  std::fprintf(stderr, "  %-30s %14s %14s %7s%s\n", title.c_str(), grouped(counts.requests).c_str(),
               per_request(kind, counts).c_str(), with_decimals(ratio(counts.lanes, counts.requests), "%.1f").c_str(),
               said.c_str());
}

void print_distinct(const char* what, std::uint64_t asked, std::uint64_t distinct) {
  if (asked == 0) return;
  std::fprintf(stderr, "  %s %s, each %s times: %s asked for\n", size(static_cast<double>(distinct)).c_str(), what,
               with_decimals(ratio(asked, distinct), "%.1f").c_str(), size(static_cast<double>(asked)).c_str());
}

/// Writes a kernel's table to stderr.
void print_kernel(const std::string& name, const KernelCounts& kernel) {
  std::fprintf(stderr, "\nkernel '%s': %s, %s, %s, %s\n", name.c_str(),
               (kernel.launches == 1 ? std::string("1 launch") : grouped(kernel.launches) + " launches").c_str(),
               counted(kernel.blocks, "block").c_str(), counted(kernel.threads, "thread").c_str(),
               counted(kernel.barriers, "barrier").c_str());
  std::array<AccessCounts, kinds.size()> sums;
  // Instructions of a line, such as the copies of an unrolled loop.
  std::map<std::pair<std::string, AccessKind>, AccessCounts> lines;
  for (const auto& [key, counts] : kernel.instructions) {
    const auto& [instruction, kind] = key;
    sums[static_cast<std::size_t>(kind)] += counts;
    std::string place = place_of_instruction(instruction);
    lines[{place.empty() ? "(elsewhere)" : place, kind}] += counts;
  }
  std::fprintf(stderr, "  %-30s %14s %14s %7s\n", "", "requests", "per request", "lanes");
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].requests > 0) print_line(kinds[i], static_cast<AccessKind>(i), sums[i]);
  }
  for (const auto& [key, counts] : lines) {
    const auto& [place, kind] = key;
    print_line(place + " " + kinds[static_cast<std::size_t>(kind)], kind, counts);
  }
  print_distinct("of global memory read", sums[0].bytes, kernel.distinct_loaded);
  print_distinct("written", sums[1].bytes + sums[2].bytes, kernel.distinct_stored);
}

/// Accesses of a thread between two barriers that are kept, to be joined with those of the other
/// lanes. Of a block with more, each becomes a request of its own.
constexpr std::size_t max_kept = std::size_t{1} << 25;

/// From an address to the one that a GPU would have: there, an allocation begins with a sector, and
/// not where its end meets a page's. The number of the allocation keeps them apart.
std::uintptr_t device_shift(const MemoryRange& range) {
  return (std::uintptr_t{range.number + 1} << TouchedSectors::offset_bits) - range.origin;
}

class CountingObserver final : public Observer {
 public:
  void start_launch(const RunningLaunch& launch) override {
    kernel_ = &kernels_[launch.kernel];
    ++kernel_->launches;
    kernel_->blocks += launch.blocks;
    kernel_->threads += launch.blocks * launch.threads;
  }

  void end_launch(RunningLaunch& launch) override {
    for (auto& [block, accesses] : blocks_) {
      for (unsigned warp = 0; warp < max_warps; ++warp) flush(accesses, warp);
    }
    blocks_.clear();
    last_block_ = nullptr;
    forget_running();
    kernel_->distinct_loaded += counts_.distinct_loaded();
    kernel_->distinct_stored += counts_.distinct_stored();
    if (table_ != nullptr) write_launch(launch);
    counts_.for_each([&](std::uintptr_t instruction, AccessKind kind, const AccessCounts& counts) {
      kernel_->instructions[{instruction, kind}] += counts;
    });
    counts_.clear();
  }

  void start_block(const Block& block) override {
    forget_running();
    blocks_[&block];
  }

  void resume(const Fiber& fiber) override {
    const Block& block = *fiber.block;
    running.shared = {reinterpret_cast<std::uintptr_t>(block.arena->pages()), block.arena->page_bytes(), 0};
    running.kept = &accesses_of(block)[fiber.thread];
  }
  Window window(const MemoryRange& range) override {
    return {range.begin, range.end - range.begin, device_shift(range)};
  }

  /// An asynchronous copy's stores are counted when it is asked for, and its loads, which are made
  /// later, as if the thread made them by the instruction that asks.
  void access(const Fiber& fiber, const Access& access) override {
    const bool is_of_copy = fiber.copy_instruction != 0;
    if (is_of_copy && access.is_shared()) return;
    BlocksAccesses& accesses = accesses_of(*fiber.block);
    ThreadsAccesses& kept = accesses[fiber.thread];
    const std::size_t most = (max_kept - 1) / fiber.block->threads;
    if (kept.size() == kept.capacity) pool_.grow(kept, most);
    const std::uintptr_t shift = access.is_shared() ? 0 : device_shift(*access.range);
    const unsigned kind = kind_of(access.is_shared(), access.writes, access.is_atomic);
    *kept.next++ = {access.address + shift,
                    key_of(is_of_copy ? fiber.copy_instruction : access.instruction, kind, access.bytes)};
    if (kept.size() > most) flush(accesses, fiber.thread / 32);
  }

  void passed_barrier(const Block& block) override {
    ++kernel_->barriers;
    BlocksAccesses& accesses = accesses_of(block);
    for (unsigned warp = 0; warp * 32 < block.threads; ++warp) flush(accesses, warp);
  }
  void synchronized(const Block& block, unsigned warp, unsigned lanes) override {
    // A part of the warp may be elsewhere.
    if (std::popcount(lanes) == 32) flush(accesses_of(block), warp);
  }
  void ordered_otherwise() override {}

  void thread_exited(const Block& block, unsigned thread) override {
    forget_running();
    const unsigned warp = thread / 32;
    if (block.lanes_exited[warp] == block.lanes_of(warp)) flush(accesses_of(block), warp);
  }

  /// Prints the table of each kernel.
  void print() const {
    std::fflush(stdout);
    for (const auto& [name, kernel] : kernels_) print_kernel(name, kernel);
  }

  /// Of all launches.
  MemoryCounts total() const {
    std::array<AccessCounts, kinds.size()> sums;
    std::uint64_t distinct_bytes = 0;
    for (const auto& [name, kernel] : kernels_) {
      distinct_bytes += kernel.distinct_loaded + kernel.distinct_stored;
      for (const auto& [key, counts] : kernel.instructions) {
        sums[static_cast<std::size_t>(key.second)] += counts;
      }
    }
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], distinct_bytes};
  }

  /// Writes a line for each kind of access of every launch to a CSV file.
  void write_to(std::FILE* file) {
    table_ = file;
    std::fputs(
        "kernel,blocks,threads,accesses,requests,lanes,bytes,sectors,wavefronts,conflicts,distinct_"
        "bytes\n",
        file);
  }

 private:
  void write_launch(const RunningLaunch& launch) const {
    std::array<AccessCounts, kinds.size()> sums;
    counts_.for_each([&](std::uintptr_t /*instruction*/, AccessKind kind, const AccessCounts& counts) {
      sums[static_cast<std::size_t>(kind)] += counts;
    });
    const std::uint64_t loaded = counts_.distinct_loaded();
    const std::uint64_t stored = counts_.distinct_stored();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const AccessCounts& sum = sums[i];
      if (sum.requests == 0) continue;
      const std::uint64_t distinct = i == 0 ? loaded : (i < 3 ? stored : 0);
      std::string line = "\"" + std::string(launch.kernel) + "\"," + std::to_string(launch.blocks) + "," +
                         std::to_string(launch.threads) + "," + kinds[i];
      for (const std::uint64_t number :
           {sum.requests, sum.lanes, sum.bytes, sum.sectors, sum.wavefronts, sum.conflicts, distinct}) {
        line += "," + std::to_string(number);
      }
      std::fprintf(table_, "%s\n", line.c_str());
    }
    std::fflush(table_);
  }

  BlocksAccesses& accesses_of(const Block& block) {
    if (&block != last_block_) {
      last_block_ = &block;
      last_accesses_ = &blocks_[&block];
    }
    return *last_accesses_;
  }

  /// Counts what the warp's lanes have kept.
  void flush(BlocksAccesses& accesses, unsigned warp) {
    ThreadsAccesses* const begin = &accesses[std::size_t{warp} * 32];
    Lanes lanes;
    for (unsigned i = 0; i < 32; ++i) lanes.add(begin[i].begin, begin[i].next);
    counts_.count(lanes);
    for (unsigned i = 0; i < 32; ++i) {
      if (!begin[i].empty()) pool_.take_back(begin[i]);
    }
  }

  std::FILE* table_ = nullptr;
  std::map<std::string, KernelCounts> kernels_;
  KernelCounts* kernel_ = nullptr;  ///< the one that runs

  LaunchCounts counts_;  ///< of its launch

  std::unordered_map<const Block*, BlocksAccesses> blocks_;
  const Block* last_block_ = nullptr;
  BlocksAccesses* last_accesses_ = nullptr;
  KeptPool pool_;
};

/// Never destroyed: kernels may run until the end.
CountingObserver* counting = nullptr;

}  // namespace

void count_accesses() {
  if (counting == nullptr && observer == nullptr) observer = counting = new CountingObserver;
}

MemoryCounts counted_accesses() { return counting == nullptr ? MemoryCounts{} : counting->total(); }

Observer* make_counting_observer() {
  counting = new CountingObserver;
  const char* const file = std::getenv("STAGEWISE_CPU_COUNTERS");  // NOLINT(concurrency-mt-unsafe)
  if (file == nullptr) {
    std::atexit([] { counting->print(); });
  } else if (std::FILE* const table = std::fopen(file, "w"); table != nullptr) {
    counting->write_to(table);
  } else {
    report("STAGEWISE_CPU_COUNTERS: the file " + std::string(file) + " cannot be written.");
    std::exit(2);  // NOLINT(concurrency-mt-unsafe): before main()
  }
  return counting;
}

}  // namespace cuda_on_cpu
