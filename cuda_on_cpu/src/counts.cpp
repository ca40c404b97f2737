/// @file
/// AccessCounts what kernels ask of memory, as a profiler does on a GPU: requests of warps, the
/// 32-byte sectors of global memory that they touch, and the conflicts of banks of shared memory.
///
/// The threads of a block run one after another, but those of a warp would load at once. So each
/// thread's accesses are kept until its warp has come to a barrier or its end. Then what the lanes
/// did by the same instruction, for the same number of times since the last barrier, is one
/// request.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"

namespace cuda_on_cpu {
namespace {

constexpr unsigned sector_bits = 5;
constexpr unsigned sector_bytes = 1U << sector_bits;
constexpr unsigned banks = 32;  ///< of shared memory, each 4 bytes wide
constexpr unsigned bank_bytes = 4;
/// Accesses of a thread between two barriers that are kept, to be joined with those of the other
/// lanes. Of a thread with more, each becomes a request of its own.
constexpr std::size_t max_kept = std::size_t{1} << 25;      ///< by a block
constexpr std::size_t max_reserved = std::size_t{1} << 16;  ///< by a thread, for what follows

enum class Kind : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic
};
constexpr std::array kinds{"global loads", "global stores", "global atomics",
                           "shared loads", "shared stores", "shared atomics"};

Kind kind_of(const Access& access) {
  const int first = access.is_shared() ? 3 : 0;
  return static_cast<Kind>(first + (access.is_atomic ? 2 : (access.writes ? 1 : 0)));
}

/// All launches of a kernel.
struct KernelCounts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;         ///< passed by blocks
  std::uint64_t distinct_loaded = 0;  ///< bytes of global memory, in whole sectors, by launch
  std::uint64_t distinct_stored = 0;
  std::map<std::pair<std::uintptr_t, Kind>, AccessCounts> instructions;
};

/// An access as it is kept.
struct Kept {
  std::uintptr_t address;  ///< in global memory, as a GPU would have it
  std::uintptr_t instruction;
  unsigned bytes;
  Kind kind;

  bool is_like(const Kept& other) const {
    return instruction == other.instruction && kind == other.kind && bytes == other.bytes;
  }
};

/// The address that a GPU would have: there, an allocation begins with a sector, and not where its
/// end meets a page's. The number of the allocation keeps them apart.
constexpr unsigned offset_bits = 40;
std::uintptr_t device_address(const Access& access) {
  if (access.is_shared()) return access.address;
  return (std::uintptr_t{access.range->number + 1} << offset_bits) +
         (access.address - access.range->origin);
}

/// Accesses of the lanes of a warp that are one request.
struct Request {
  unsigned lanes = 0;
  unsigned bytes = 0;  ///< of each
  std::array<std::uintptr_t, 32> addresses;
};

std::uint64_t count_distinct(std::uintptr_t* begin, std::uintptr_t* end) {
  if (!std::is_sorted(begin, end)) std::sort(begin, end);
  return static_cast<std::uint64_t>(std::unique(begin, end) - begin);
}

/// The sectors of a request, each once.
struct Sectors {
  std::array<std::uintptr_t, 64> numbers;
  std::size_t count = 0;
};

Sectors sectors_of(const Request& request) {
  Sectors all;
  auto& [sectors, count] = all;
  for (unsigned i = 0; i < request.lanes; ++i) {
    const std::uintptr_t first = request.addresses[i] / sector_bytes;
    const std::uintptr_t last = (request.addresses[i] + request.bytes - 1) / sector_bytes;
    for (std::uintptr_t sector = first; sector <= last; ++sector) {
      if (count == 0 || sectors[count - 1] != sector) sectors[count++] = sector;
    }
  }
  count = count_distinct(sectors.data(), sectors.data() + count);
  return all;
}

/// Adds the cycles that shared memory takes for a request. Lanes that want 8 bytes are served in
/// two halves of the warp, those that want 16 in four quarters. In each, a bank serves one word per
/// cycle, whoever wants it.
void add_wavefronts(const Request& request, AccessCounts& counts) {
  const unsigned words = std::max(1U, request.bytes / bank_bytes);
  const unsigned together = 32 / words;
  for (unsigned first = 0; first < request.lanes; first += together) {
    const unsigned end = std::min(first + together, request.lanes);
    std::array<std::uintptr_t, 64> wanted;
    std::size_t count = 0;
    for (unsigned i = first; i < end; ++i) {
      for (unsigned word = 0; word < words; ++word) {
        wanted[count++] = request.addresses[i] / bank_bytes + word;
      }
    }
    const std::uint64_t distinct = count_distinct(wanted.data(), wanted.data() + count);
    std::array<unsigned, banks> per_bank{};
    unsigned most = 0;
    for (std::size_t i = 0; i < distinct; ++i) most = std::max(most, ++per_bank[wanted[i] % banks]);
    counts.wavefronts += most;
    counts.conflicts += most - 1;
  }
}

/// Which sectors of each range a launch has touched.
using Touched = std::vector<std::vector<bool>>;

class CountingObserver final : public Observer {
 public:
  void start_launch(const RunningLaunch& launch) override {
    kernel_ = &kernels_[launch.kernel];
    ++kernel_->launches;
    kernel_->blocks += launch.blocks;
    kernel_->threads += launch.blocks * launch.threads;
    loaded_.clear();
    stored_.clear();
  }

  void end_launch(RunningLaunch& launch) override {
    for (auto& [block, lanes] : blocks_) {
      for (unsigned warp = 0; warp < max_warps; ++warp) flush(lanes, warp);
    }
    blocks_.clear();
    last_block_ = nullptr;
    const std::uint64_t distinct_loaded = distinct_bytes(loaded_);
    const std::uint64_t distinct_stored = distinct_bytes(stored_);
    kernel_->distinct_loaded += distinct_loaded;
    kernel_->distinct_stored += distinct_stored;
    if (table_ != nullptr) write_launch(launch, distinct_loaded, distinct_stored);
    for (const auto& [key, counts] : counts_) {
      kernel_->instructions[{key / 8, static_cast<Kind>(key % 8)}] += counts;
    }
    counts_.clear();
  }

  void start_block(const Block& block) override { blocks_[&block]; }

  /// An asynchronous copy's stores are counted when it is asked for, and its loads, which are made
  /// later, as if the thread made them by the instruction that asks.
  void access(const Fiber& fiber, const Access& access) override {
    const bool is_of_copy = fiber.copy_instruction != 0;
    if (is_of_copy && access.is_shared()) return;
    Lanes& lanes = lanes_of(*fiber.block);
    std::vector<Kept>& kept = lanes[fiber.thread];
    kept.push_back({device_address(access),
                    is_of_copy ? fiber.copy_instruction : access.instruction, access.bytes,
                    kind_of(access)});
    if (kept.size() * fiber.block->threads >= max_kept) flush(lanes, fiber.thread / 32);
  }

  void passed_barrier(const Block& block) override {
    ++kernel_->barriers;
    flush_all(block);
  }
  void synchronized(const Block& block, unsigned warp, unsigned lanes) override {
    // A part of the warp may be elsewhere.
    if (std::popcount(lanes) == 32) flush(lanes_of(block), warp);
  }
  void ordered_otherwise() override {}

  void thread_exited(const Block& block, unsigned thread) override {
    const unsigned warp = thread / 32;
    const unsigned lanes = std::min(32U, block.threads - warp * 32);
    if (std::popcount(block.lanes_exited[warp]) == static_cast<int>(lanes)) {
      flush(lanes_of(block), warp);
    }
  }

  void print() const;

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
  using Lanes = std::array<std::vector<Kept>, max_threads>;

  void write_launch(const RunningLaunch& launch, std::uint64_t loaded, std::uint64_t stored) const;

  Lanes& lanes_of(const Block& block) {
    if (&block != last_block_) {
      last_block_ = &block;
      last_lanes_ = &blocks_[&block];
    }
    return *last_lanes_;
  }

  void flush_all(const Block& block) {
    Lanes& lanes = lanes_of(block);
    for (unsigned warp = 0; warp * 32 < block.threads; ++warp) flush(lanes, warp);
  }

  /// Makes requests of what the warp's lanes have kept.
  void flush(Lanes& lanes, unsigned warp) {
    std::vector<Kept>* const begin = &lanes[std::size_t{warp} * 32];
    std::array<std::vector<Kept>*, 32> active;
    unsigned count = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (!begin[i].empty()) active[count++] = &begin[i];
    }
    if (count == 0) return;
    if (has_one_path(active, count)) {
      count_one_path(active, count);
    } else {
      count_many_paths(active, count);
    }
    for (unsigned i = 0; i < count; ++i) {
      if (active[i]->capacity() > max_reserved) *active[i] = {};
      active[i]->clear();
    }
  }

  static bool has_one_path(const std::array<std::vector<Kept>*, 32>& lanes, unsigned count) {
    const std::vector<Kept>& first = *lanes[0];
    for (unsigned i = 1; i < count; ++i) {
      if (!std::equal(first.begin(), first.end(), lanes[i]->begin(), lanes[i]->end(),
                      [](const Kept& a, const Kept& b) { return a.is_like(b); })) {
        return false;
      }
    }
    return true;
  }

  void count_one_path(const std::array<std::vector<Kept>*, 32>& lanes, unsigned count) {
    Request request;
    request.lanes = count;
    for (std::size_t i = 0; i < lanes[0]->size(); ++i) {
      const Kept& one = (*lanes[0])[i];
      request.bytes = one.bytes;
      for (unsigned lane = 0; lane < count; ++lane) {
        request.addresses[lane] = (*lanes[lane])[i].address;
      }
      add(request, one);
    }
  }

  /// Lanes that a branch has parted: what they have done by the same instruction, the first time,
  /// the second and so on.
  void count_many_paths(const std::array<std::vector<Kept>*, 32>& lanes, unsigned count) {
    struct Group {
      Kept one;
      Request request;
    };
    std::vector<Group> groups;
    std::unordered_map<std::uintptr_t, std::vector<std::size_t>> by_instruction;
    std::unordered_map<std::uintptr_t, std::size_t> times;
    for (unsigned lane = 0; lane < count; ++lane) {
      times.clear();
      for (const Kept& kept : *lanes[lane]) {
        const std::uintptr_t key = kept.instruction * 8 + static_cast<unsigned>(kept.kind);
        std::vector<std::size_t>& known = by_instruction[key];
        const std::size_t time = times[key]++;
        if (time == known.size()) {
          known.push_back(groups.size());
          groups.push_back({kept, {}});
        }
        Request& request = groups[known[time]].request;
        request.bytes = kept.bytes;
        request.addresses[request.lanes++] = kept.address;
      }
    }
    for (const Group& group : groups) add(group.request, group.one);
  }

  void add(const Request& request, const Kept& one) {
    AccessCounts& counts = counts_[one.instruction * 8 + static_cast<unsigned>(one.kind)];
    ++counts.requests;
    counts.lanes += request.lanes;
    counts.bytes += std::uint64_t{request.lanes} * request.bytes;
    if (one.kind >= Kind::shared_load) {
      add_wavefronts(request, counts);
      return;
    }
    const Sectors sectors = sectors_of(request);
    counts.sectors += sectors.count;
    Touched& touched = one.kind == Kind::global_load ? loaded_ : stored_;
    for (std::size_t i = 0; i < sectors.count; ++i) touch(touched, sectors.numbers[i]);
  }

  static void touch(Touched& touched, std::uintptr_t sector) {
    constexpr unsigned bits = offset_bits - sector_bits;
    const std::uintptr_t range = sector >> bits;
    const std::uintptr_t place = sector & ((std::uintptr_t{1} << bits) - 1);
    if (place >> (bits - 1) != 0) return;  // before the allocation's beginning
    if (range >= touched.size()) touched.resize(range + 1);
    std::vector<bool>& sectors = touched[range];
    if (place >= sectors.size()) sectors.resize(std::max(place + 1, 2 * sectors.size()));
    sectors[place] = true;
  }

  static std::uint64_t distinct_bytes(const Touched& touched) {
    std::uint64_t sectors = 0;
    for (const std::vector<bool>& bits : touched) {
      sectors += static_cast<std::uint64_t>(std::count(bits.begin(), bits.end(), true));
    }
    return sectors * sector_bytes;
  }

  std::FILE* table_ = nullptr;
  std::map<std::string, KernelCounts> kernels_;
  KernelCounts* kernel_ = nullptr;                           ///< the one that runs
  std::unordered_map<std::uintptr_t, AccessCounts> counts_;  ///< of the launch
  std::unordered_map<const Block*, Lanes> blocks_;
  const Block* last_block_ = nullptr;
  Lanes* last_lanes_ = nullptr;
  Touched loaded_;
  Touched stored_;
};

// ------------------------------------------------------------------------------------------------
// The tables

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

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

/// "4.00 sectors" of global memory, "2.00 cycles" of shared memory.
std::string per_request(Kind kind, const AccessCounts& counts) {
  if (kind < Kind::shared_load)
    return with_decimals(ratio(counts.sectors, counts.requests)) + " sectors";
  return with_decimals(ratio(counts.wavefronts, counts.requests)) + " cycles";
}

/// What is worse than it could be; empty if nothing is.
std::string remark(Kind kind, const AccessCounts& counts) {
  if (kind >= Kind::shared_load) {
    const std::uint64_t conflicts = counts.conflicts;
    return conflicts == 0
               ? ""
               : grouped(conflicts) + (conflicts == 1 ? " bank conflict" : " bank conflicts");
  }
  const double used = 100 * ratio(counts.bytes, counts.sectors * sector_bytes);
  return used >= 99.5 ? "" : with_decimals(used, "%.0f") + " % of the bytes moved are asked for";
}

void print_line(const std::string& title, Kind kind, const AccessCounts& counts) {
  std::string said = remark(kind, counts);
  if (!said.empty()) said.insert(0, "   ");
  std::fprintf(stderr, "  %-30s %14s %14s %7s%s\n", title.c_str(), grouped(counts.requests).c_str(),
               per_request(kind, counts).c_str(),
               with_decimals(ratio(counts.lanes, counts.requests), "%.1f").c_str(), said.c_str());
}

void print_distinct(const char* what, std::uint64_t asked, std::uint64_t distinct) {
  if (asked == 0) return;
  std::fprintf(stderr, "  %s %s, each %s times: %s asked for\n",
               size(static_cast<double>(distinct)).c_str(), what,
               with_decimals(ratio(asked, distinct), "%.1f").c_str(),
               size(static_cast<double>(asked)).c_str());
}

void print_kernel(const std::string& name, const KernelCounts& kernel) {
  std::fprintf(
      stderr, "\nkernel '%s': %s, %s, %s, %s\n", name.c_str(),
      (kernel.launches == 1 ? std::string("1 launch") : grouped(kernel.launches) + " launches")
          .c_str(),
      counted(kernel.blocks, "block").c_str(), counted(kernel.threads, "thread").c_str(),
      counted(kernel.barriers, "barrier").c_str());
  std::array<AccessCounts, kinds.size()> sums;
  // Instructions of a line, such as the copies of an unrolled loop.
  std::map<std::pair<std::string, Kind>, AccessCounts> lines;
  for (const auto& [key, counts] : kernel.instructions) {
    const auto& [instruction, kind] = key;
    sums[static_cast<std::size_t>(kind)] += counts;
    std::string place = place_of_instruction(instruction);
    lines[{place.empty() ? "(elsewhere)" : place, kind}] += counts;
  }
  std::fprintf(stderr, "  %-30s %14s %14s %7s\n", "", "requests", "per request", "lanes");
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].requests > 0) print_line(kinds[i], static_cast<Kind>(i), sums[i]);
  }
  for (const auto& [key, counts] : lines) {
    const auto& [place, kind] = key;
    print_line(place + " " + kinds[static_cast<std::size_t>(kind)], kind, counts);
  }
  print_distinct("of global memory read", sums[0].bytes, kernel.distinct_loaded);
  print_distinct("written", sums[1].bytes + sums[2].bytes, kernel.distinct_stored);
}

void CountingObserver::print() const {
  std::fflush(stdout);
  for (const auto& [name, kernel] : kernels_) print_kernel(name, kernel);
}

void CountingObserver::write_launch(const RunningLaunch& launch, std::uint64_t loaded,
                                    std::uint64_t stored) const {
  std::array<AccessCounts, kinds.size()> sums;
  for (const auto& [key, counts] : counts_) sums[key % 8] += counts;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const AccessCounts& sum = sums[i];
    if (sum.requests == 0) continue;
    const std::uint64_t distinct = i == 0 ? loaded : (i < 3 ? stored : 0);
    std::string line = "\"" + std::string(launch.kernel) + "\"," + std::to_string(launch.blocks) +
                       "," + std::to_string(launch.threads) + "," + kinds[i];
    for (const std::uint64_t number : {sum.requests, sum.lanes, sum.bytes, sum.sectors,
                                       sum.wavefronts, sum.conflicts, distinct}) {
      line += "," + std::to_string(number);
    }
    std::fprintf(table_, "%s\n", line.c_str());
  }
  std::fflush(table_);
}

}  // namespace

namespace {

/// Never destroyed: kernels may run until the end.
CountingObserver* counting = nullptr;

}  // namespace

void count_accesses() {
  if (counting == nullptr && observer == nullptr) observer = counting = new CountingObserver;
}

MemoryCounts counted_accesses() {
  return counting == nullptr ? MemoryCounts{} : counting->total();
}

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
