/// @file
/// What an operation declares of its operands: whether it reads, writes or updates them.
#pragma once

#include "network/value.hpp"

namespace stagewise {

/// An operand that is read. Has no value if it is optional and absent.
template <typename Kind>
struct Reads : ValueId {
  Reads(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*): an operand is a value
};

/// An operand that is written without being read.
template <typename Kind>
struct Writes : ValueId {
  Writes(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*)
};

/// An operand that is read and written.
template <typename Kind>
struct Updates : ValueId {
  Updates(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*)
};

}  // namespace stagewise
