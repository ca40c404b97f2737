/// @file
/// What an executor is given besides a program, what it measures, and how it finds a stage's
/// function for an operation.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "network/cost.hpp"

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

//! [run_line]
/// Calls the stage's function for a line's operation. If the stage has no function for a fused
/// operation, calls those for what it stands for. That all others have one is checked at compile
/// time.
template <typename Stage>
void run_operation(Stage& stage, const Operation& operation, const std::vector<Operation>& replaces) {
  std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (requires { stage.run(op); }) {
          stage.run(op);
        } else {
          static_assert(Fused<Op>, "this stage does not compute every operation");
          for (const Operation& member : replaces) run_operation(stage, member, {});
        }
      },
      operation);
}
//! [run_line]

}  // namespace stagewise
