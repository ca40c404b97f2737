/// @file
/// How a stage finds its function for an operation.
#pragma once

#include <type_traits>
#include <variant>
#include <vector>

#include "network/operations.hpp"

namespace stagewise {

//! [run_line]
/// Calls the stage's function for a line's operation. If the stage has no function for a fused
/// operation, calls those for what it stands for. That all others have one is checked at compile
/// time.
template <typename Stage>
void run_operation(Stage& stage, const Operation& operation,
                   const std::vector<Operation>& replaces) {
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
