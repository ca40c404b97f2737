/// @file
/// What an operation declares of its operands: whether it reads, writes or updates them.
#pragma once

#include <cstdint>

#include "network/value.hpp"

namespace stagewise {

/// How an operation uses an operand.
enum class Use : std::uint8_t { reads, writes, updates };

/// An operand, of elements of this kind. Has no value if it is optional and absent.
template <typename Kind, Use how>
struct OperandOf : ValueId {
  static constexpr Use use = how;
  OperandOf(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*): an operand is a value
};

/// An operand that is read.
template <typename Kind>
using Reads = OperandOf<Kind, Use::reads>;

/// An operand that is written without being read.
template <typename Kind>
using Writes = OperandOf<Kind, Use::writes>;

/// An operand that is read and written.
template <typename Kind>
using Updates = OperandOf<Kind, Use::updates>;

}  // namespace stagewise
