/// @file
/// What kernels have done, where that is counted (by CUDA on the CPU in an instrumented program),
/// and what a device can do at most: the two that floors rest on.
#pragma once

#include <string>

namespace stagewise {

/// Of some launches. All zero where nothing is counted.
struct KernelCounters {
  double launches = 0;        ///< of kernels
  double copies = 0;          ///< and fills, by the runtime
  double loads = 0;           ///< requests of warps to global memory
  double load_sectors = 0;    ///< of 32 bytes, that these take
  double stores = 0;          ///< likewise, atomic functions included
  double store_sectors = 0;   ///< that these take
  double distinct_bytes = 0;  ///< of global memory that a launch has touched, in whole sectors
  double shared_cycles = 0;   ///< in which the banks of shared memory serve the requests
  double bank_conflicts = 0;  ///< of these cycles, those that conflicts add

  /// What all warps have asked global memory for, in whole sectors.
  double asked_bytes() const { return 32 * (load_sectors + store_sectors); }

  /// Sectors a request; 0 without requests.
  double sectors_per_load() const { return loads > 0 ? load_sectors / loads : 0; }
  double sectors_per_store() const { return stores > 0 ? store_sectors / stores : 0; }
  double sectors_per_request() const {
    return loads + stores > 0 ? (load_sectors + store_sectors) / (loads + stores) : 0;
  }

  KernelCounters& operator+=(const KernelCounters& other) { return add(other, 1); }
  KernelCounters operator-(const KernelCounters& other) const { return KernelCounters(*this).add(other, -1); }
  /// A share of them.
  KernelCounters operator/(double divisor) const { return KernelCounters().add(*this, 1 / divisor); }

 private:
  KernelCounters& add(const KernelCounters& other, double factor) {
    launches += factor * other.launches;
    copies += factor * other.copies;
    loads += factor * other.loads;
    load_sectors += factor * other.load_sectors;
    stores += factor * other.stores;
    store_sectors += factor * other.store_sectors;
    distinct_bytes += factor * other.distinct_bytes;
    shared_cycles += factor * other.shared_cycles;
    bank_conflicts += factor * other.bank_conflicts;
    return *this;
  }
};

/// What a device can do at most. Zero: unknown.
struct DeviceLimits {
  std::string device;                   ///< "this GPU"
  double bytes_per_second = 0;          ///< between its memory and its processors
  double operations_per_second = 0;     ///< of floating-point arithmetic in the precision at hand
  double launch_seconds = 0;            ///< of a kernel that does nothing
  double cache_bytes_per_second = 0;    ///< from the L1 caches of all multiprocessors
  double shared_cycles_per_second = 0;  ///< of the shared memory of all multiprocessors
};

}  // namespace stagewise
