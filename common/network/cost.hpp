/// @file
/// The bytes that an operation must move and the work that it must do, whatever the kernel; and its
/// floor: the least time that this can take on a device.
#pragma once

#include "network/program.hpp"
#include "tensor/kernel_counters.hpp"

namespace stagewise {

/// Bytes between processor and memory, and floating-point operations.
struct Cost {
  double bytes = 0;
  double operations = 0;

  Cost& operator+=(const Cost& other) {
    bytes += other.bytes;
    operations += other.operations;
    return *this;
  }
};

/// The cost of one line, for a batch of `rows` samples: every operand is read or written once; a
/// product of m x k by k x n takes 2 m n k operations, an element of another result one per number
/// that enters it. A fused line does the work of the lines that it replaces, and moves only its own
/// operands.
/// @param bytes_of_real 4 or 8.
Cost cost_of(const Program& program, const Line& line, Index rows, int bytes_of_real);

/// How many elements a value has for a batch of `rows` samples.
Index elements_of(const Value& value, Index rows);

/// The size of an element in bytes.
std::size_t bytes_of(Type type, int bytes_of_real);

/// What keeps a line from being faster: it is memory-bound, compute-bound or launch-bound; of
/// kernels that are counted also the requests to the L1 cache or to shared memory.
enum class Bound : std::uint8_t { memory, compute, launch, cache, shared };

/// "memory", "compute", "launch", "cache", "shared".
const char* name_of(Bound bound);

/// The largest of the times for the bytes, for the operations and for the launches alone.
struct Floor {
  double seconds = 0;
  Bound bound = Bound::launch;
};

/// The floor of `launches` launches that together move and compute what `cost` says. A limit that
/// is unknown bounds nothing.
Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits);

/// The floor of launches that do what is counted, and `operations`: each byte that a launch touches
/// comes from memory once, and what its warps ask for comes from the L1 caches.
Floor counted_floor_of(const KernelCounters& counters, double operations, const DeviceLimits& limits);

}  // namespace stagewise
