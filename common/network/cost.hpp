/// @file
/// The bytes that an operation must move and the work that it must do, whatever the kernel: its
/// floor.
#pragma once

#include "network/program.hpp"

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

}  // namespace stagewise
