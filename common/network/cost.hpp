/// @file
/// What an operation must move and do, whoever computes it: its floor.
#pragma once

#include "network/program.hpp"

namespace stagewise {

/// Bytes between processor and memory, and operations on real numbers.
struct Cost {
  double bytes = 0;
  double operations = 0;
};

/// Of one line, for a batch of `rows` samples: every operand is read or written once; a product of
/// m x k by k x n takes 2 m n k operations, an element of a result one for each number that enters.
/// A fused line does what the lines do that it replaces, and moves its own operands only.
/// @param bytes_of_real 4 or 8.
Cost cost_of(const Program& program, const Line& line, Index rows, int bytes_of_real);

/// How many elements a value has for a batch of `rows` samples.
Index elements_of(const Value& value, Index rows);

/// Bytes of an element.
std::size_t bytes_of(Type type, int bytes_of_real);

}  // namespace stagewise
