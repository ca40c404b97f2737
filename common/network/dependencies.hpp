/// @file
/// Which line of a program must wait for which.
#pragma once

#include <cstddef>
#include <vector>

#include "network/program.hpp"

namespace stagewise {

/// For every line, the earlier lines that must be done first: it reads what they write, or writes
/// what they read or write. Values in the same memory count as one. This is report 002's static
/// graph.
class Dependencies {
 public:
  explicit Dependencies(const Program& program);

  /// The numbers of the lines that line number `line` waits for directly, in ascending order.
  const std::vector<std::size_t>& of(std::size_t line) const { return of_[line]; }

  /// Whether line `later` waits for `earlier`, directly or through lines between them.
  bool follows(std::size_t later, std::size_t earlier) const { return follows_[later][earlier]; }

 private:
  std::vector<std::vector<std::size_t>> of_;
  std::vector<std::vector<bool>> follows_;
};

}  // namespace stagewise
