#include "cuda/counters.hpp"

#include <cuda_runtime.h>

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise::cuda {

#ifdef CUDA_ON_CPU

bool counts_kernels() {
  return cuda_on_cpu::kernels_report_accesses;
}

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

#else

bool counts_kernels() {
  return false;
}

KernelCounters kernel_counters() {
  return {};
}

#endif

}  // namespace stagewise::cuda
