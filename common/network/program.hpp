/// @file
/// The network as a program: a list of operations on named values; and that list as text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "network/operations.hpp"

namespace stagewise {

/// An operation in a program.
struct Line {
  Operation operation;
  std::vector<Operation> replaces = {};  ///< of a fused operation: the lines that it stands for

  int lane = 0;                             ///< lines of different lanes may run side by side
  std::vector<std::size_t> waits_for = {};  ///< lines of other lanes that must be done first
  bool is_awaited = false;                  ///< whether a line of another lane waits for this one
};

/// Values, and the lines that compute them, in an order in which each follows the lines that write
/// its operands.
///
/// Only one line writes a value, except for parameters and totals, which lines update. A value may
/// take over the memory of another one that no line reads any more.
///
/// A rewrite is a function from a program to a program. It may add values, but never renumbers
/// existing ones: the ids of a program are valid in all programs made from it.
struct Program {
  /// @name Elsewhere, so that what uses programs need not compile this for all operations
  /// @{
  Program();
  explicit Program(std::vector<Value> known);  ///< with these values, and no lines yet
  ~Program();
  Program(const Program& other);
  Program(Program&& other) noexcept;
  Program& operator=(const Program& other);
  Program& operator=(Program&& other) noexcept;
  /// @}

  std::vector<Value> values;
  std::vector<Line> lines;

  /// Adds a value, with the next number.
  ValueId add(Value value);

  /// Adds a line at the end.
  void append(Operation operation);

  const Value& operator[](ValueId id) const { return values[static_cast<std::size_t>(id.index)]; }
  Value& operator[](ValueId id) { return values[static_cast<std::size_t>(id.index)]; }

  /// The value in whose memory this one is: usually itself.
  ValueId memory_of(ValueId id) const;

  /// Whether two values have memory in common: not if they are slices with other rows.
  bool overlap(ValueId one, ValueId other) const;
};

/// What is called for an operand. By reference, so that a walk over a program allocates nothing.
using VisitOperand = std::function<void(ValueId, Use)>;
/// Likewise, for an operand that may be replaced.
using ReplaceOperand = std::function<void(ValueId&, Use)>;

/// Implementation of for_each_operand().
void visit_operands(const Operation& operation, const VisitOperand& visit);
/// Likewise.
void replace_operands(Operation& operation, const ReplaceOperand& visit);

/// Calls `visit(operand, use)` for each operand that is present.
template <typename Visit>
void for_each_operand(const Operation& operation, const Visit& visit) {
  visit_operands(operation, std::cref(visit));
}

/// Likewise, of an operation whose operands `visit` may replace.
template <typename Visit>
void for_each_operand(Operation& operation, const Visit& visit) {
  replace_operands(operation, std::cref(visit));
}

/// The name of an operation: "gemm".
const char* name_of(const Operation& operation);

/// The values that it reads or updates.
std::vector<ValueId> read_by(const Operation& operation);

/// The values that it writes or updates.
std::vector<ValueId> written_by(const Operation& operation);

/// Whether a line of the program reads the value, except for the lines with the numbers in
/// `except`.
bool is_read(const Program& program, ValueId value, const std::vector<std::size_t>& except = {});

/// Whether an operation computes or uses gradients, and nothing of the forward pass.
bool is_backward(const Program& program, const Operation& operation);

/// @throws std::logic_error if a line reads what has not been written yet or has been overwritten,
///         or writes what was written before.
void expect_valid(const Program& program);

/// "batch, fc1/weight -> fc1/product": the names of the values that a line reads and of those that
/// it writes; if there are many, only the first two and the last.
std::string operands_text(const Program& program, const Operation& operation);

/// "gemm  batch, fc1/weight -> fc1/product": what a line is called where it is measured.
std::string line_text(const Program& program, const Line& line);

/// "batch [100x784], fc1/weight [784x256] -> fc1/product [100x256]": the same, with the shapes for
/// a batch of `rows` samples; values for all batches, such as the data set, and totals have none.
std::string operands_text(const Program& program, const Operation& operation, Index rows);

/// "gather gemm add_bias relu": the names of the operations that a fused line stands for; a run of
/// the same name is printed once, with a count: "sgd_update x4". Empty for a line that is not
/// fused.
std::string replaced_text(const Line& line);

}  // namespace stagewise
