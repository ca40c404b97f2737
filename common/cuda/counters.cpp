#include "cuda/counters.hpp"

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/counters.hpp"
#endif

namespace stagewise::cuda {

#ifdef CUDA_ON_CPU

namespace {

double per_request(const cuda_on_cpu::AccessCounts& counts) {
  return counts.requests == 0
             ? 0
             : static_cast<double>(counts.sectors) / static_cast<double>(counts.requests);
}

}  // namespace

bool counts_memory() {
  return cuda_on_cpu::kernels_report_accesses;
}

MemoryCounters take_memory_counters() {
  static cuda_on_cpu::MemoryCounts before;
  cuda_on_cpu::count_accesses();
  const cuda_on_cpu::MemoryCounts now = cuda_on_cpu::counted_accesses();
  const cuda_on_cpu::AccessCounts loads = now.loads - before.loads;
  cuda_on_cpu::AccessCounts stores = now.stores - before.stores;
  stores += now.atomics - before.atomics;
  constexpr double sector_bytes = 32;
  const MemoryCounters counters{per_request(loads), per_request(stores),
                                sector_bytes * static_cast<double>(loads.sectors + stores.sectors),
                                (now.shared_loads - before.shared_loads).conflicts +
                                    (now.shared_stores - before.shared_stores).conflicts +
                                    (now.shared_atomics - before.shared_atomics).conflicts};
  before = now;
  return counters;
}

#else

bool counts_memory() {
  return false;
}

MemoryCounters take_memory_counters() {
  return {};
}

#endif

}  // namespace stagewise::cuda
