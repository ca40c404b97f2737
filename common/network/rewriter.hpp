/// @file
/// Replacing lines of a program with one that does the same.
#pragma once

#include <optional>
#include <vector>

#include "network/program.hpp"

namespace stagewise {

/// A program that is being rewritten.
class Rewriter {
 public:
  explicit Rewriter(Program program) : program_(std::move(program)) {}

  const Program& program() const { return program_; }
  std::size_t size() const { return program_.lines.size(); }

  /// Returns the rewritten program; call it last.
  Program finish() { return std::move(program_); }

  /// Adds a value.
  ValueId add(Value value) { return program_.add(std::move(value)); }

  /// The operation of a line if it is of this kind, else null.
  template <typename Op>
  const Op* get(std::size_t line) const {
    return std::get_if<Op>(&program_.lines[line].operation);
  }

  /// The line that writes a value; none for a value that exists from the beginning, or that is
  /// updated.
  std::optional<std::size_t> writer_of(ValueId value) const;

  /// The lines that read a value.
  std::vector<std::size_t> readers_of(ValueId value) const;

  /// The only line of a kind that reads a value; none if there is no such line, or several.
  template <typename Op>
  std::optional<std::size_t> reader_of(ValueId value) const {
    std::optional<std::size_t> found;
    for (const std::size_t line : readers_of(value)) {
      if (get<Op>(line) == nullptr) continue;
      if (found) return std::nullopt;
      found = line;
    }
    return found;
  }

  /// Replaces the lines with one, if the results stay the same: no other line may read what only
  /// the members write and the new line does not, and no line may have to come both after one
  /// member and before another.
  /// @param members numbers of lines.
  /// @param split_off values that the new line need not write, because split_off() will add a line
  ///        that writes them.
  /// @return the number of the new line; none if nothing was replaced.
  std::optional<std::size_t> fuse(std::vector<std::size_t> members, Operation fused,
                                  const std::vector<ValueId>& split_off = {});

  /// Splits what a fused line stands for: the operations of one kind move to a new line after it.
  template <typename Op>
  void split_off(std::size_t line, Operation operation) {
    Line second{.operation = std::move(operation)};
    std::erase_if(program_.lines[line].replaces, [&](const Operation& member) {
      const bool moves = std::holds_alternative<Op>(member);
      if (moves) second.replaces.push_back(member);
      return moves;
    });
    program_.lines.insert(program_.lines.begin() + static_cast<std::ptrdiff_t>(line) + 1, std::move(second));
  }

  /// Removes a line.
  void remove(std::size_t line) { program_.lines.erase(program_.lines.begin() + static_cast<std::ptrdiff_t>(line)); }

  /// Replaces an operation with another one that does the same and stands for more.
  /// @param also what it stands for in addition, before all others.
  void replace(std::size_t line, Operation operation, const std::vector<Operation>& also);

 private:
  bool must_follow(std::size_t later, std::size_t earlier) const;
  bool hides_a_value(const std::vector<std::size_t>& members, const std::vector<ValueId>& still_written) const;

  Program program_;
};

}  // namespace stagewise
