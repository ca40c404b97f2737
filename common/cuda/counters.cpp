#include "cuda/counters.hpp"

#include <cuda_runtime.h>

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise::cuda {

#ifdef CUDA_ON_CPU

bool counts_kernels() { return cuda_on_cpu::kernels_report_accesses; }

KernelCounters kernel_counters() {
  if (!counts_kernels()) return {};
  cuda_on_cpu::count_accesses();
  const cuda_on_cpu::MemoryCounts counts = cuda_on_cpu::counted_accesses();
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  cuda_on_cpu::AccessCounts stores = counts.stores;
  stores += counts.atomics;
  cuda_on_cpu::AccessCounts shared = counts.shared_loads;
  shared += counts.shared_stores;
  shared += counts.shared_atomics;
  KernelCounters all;
  all.launches = number(cuda_on_cpu::counters().launches);
  all.copies = number(cuda_on_cpu::counters().copies);
  all.loads = number(counts.loads.requests);
  all.load_sectors = number(counts.loads.sectors);
  all.stores = number(stores.requests);
  all.store_sectors = number(stores.sectors);
  all.distinct_bytes = number(counts.distinct_bytes);
  all.shared_cycles = number(shared.wavefronts);
  all.bank_conflicts = number(shared.conflicts);
  return all;
}

namespace {

using cuda_on_cpu::Settings;
using cuda_on_cpu::ThreadOrder;

/// While it exists, threads run in the requested order.
class InOrder {
 public:
  InOrder(ThreadOrder order, std::uint64_t seed) : before_(cuda_on_cpu::settings()) {
    cuda_on_cpu::settings().thread_order = order;
    cuda_on_cpu::settings().seed = seed;
  }
  ~InOrder() { cuda_on_cpu::settings() = before_; }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

 private:
  Settings before_;
};

bool repeats_in(ThreadOrder order, std::uint64_t seed, const std::function<bool()>& repeats) {
  const InOrder in_order(order, seed);
  return repeats();
}

}  // namespace

std::string explain_order(const std::function<bool()>& repeats) {
  bool same = repeats_in(ThreadOrder::forward, 1, repeats) && repeats_in(ThreadOrder::reverse, 1, repeats);
  for (std::uint64_t seed = 1; same && seed <= 3; ++seed) {
    same = repeats_in(ThreadOrder::random, seed, repeats);
  }
  if (same) return "The result is the same in every order of the threads that was tried.";
  return "The result depends on the order in which threads run: two threads use the same memory "
         "with no barrier between them; with STAGEWISE_CPU_OBSERVE=mistakes, the programs in "
         "bin/instrumented name the lines.";
}

#else

bool counts_kernels() { return false; }

KernelCounters kernel_counters() { return {}; }

std::string explain_order(const std::function<bool()>& repeats) {
  bool same = true;
  for (int i = 0; same && i < 10; ++i) same = repeats();
  if (same) return "The result is the same each time.";
  return "The result differs from time to time: two threads use the same memory with no barrier "
         "between them, or one reads what nobody has written; compute-sanitizer names the lines, "
         "with --tool racecheck or initcheck.";
}

#endif

}  // namespace stagewise::cuda
