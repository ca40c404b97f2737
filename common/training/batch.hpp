/// @file
/// What an executor is given besides a program, and what it has measured.
#pragma once

#include <cstdint>
#include <string>

#include "network/cost.hpp"
#include "tensor/kernel_counters.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// The samples that a program is executed for: the launch arguments.
struct Batch {
  Index first = 0;        ///< position of the first sample in the order
  Index rows = 0;         ///< of the whole batch
  std::int64_t step = 1;  ///< within the epoch, counted from 1
  Index steps = 1;        ///< batches of so many rows, one after another; more than one only for a
                          ///< program that takes several steps at a time
};

/// The time that a line has taken so far.
struct Timing {
  std::string operation;  ///< "gemm  batch, fc1/weight -> fc1/product"
  std::int64_t calls = 0;
  double seconds = 0;
  double first_seconds = 0;      ///< of that, the first call: it may also load the kernel
  Cost cost = {};                ///< of all calls; nothing for what is no line of a program
  KernelCounters counters = {};  ///< of all calls, where kernels are counted
  bool is_backward = false;      ///< whether it computes gradients, or uses them
};

}  // namespace stagewise
