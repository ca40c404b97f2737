/// @file
/// The values that a program's operations read and write, and how an operation declares that.
#pragma once

#include <cstdint>
#include <string>

#include "network/problems.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// Identifies a value of a program.
struct ValueId {
  int index = -1;  ///< -1: none

  explicit operator bool() const { return index >= 0; }
  bool operator==(const ValueId&) const = default;
  bool operator<(const ValueId& other) const { return index < other.index; }
};

/// What a value is for.
enum class Role : std::uint8_t {
  data,        ///< the data set, the order in which an epoch visits it, and the rates of a step: not the
               ///< program's memory
  activation,  ///< computed from a batch in the forward pass, including the batch itself
  weight,      ///< a parameter to which l2 applies: weights and filters
  bias,        ///< a parameter to which l2 does not apply
  gradient,    ///< of the loss, with respect to another value
  state,       ///< what an optimizer keeps of a parameter from step to step
  total        ///< sums over an epoch
};

/// Whether the network learns such a value.
constexpr bool is_parameter(Role role) { return role == Role::weight || role == Role::bias; }

/// What a value consists of.
enum class Type : std::uint8_t { real, classes, order, totals, partials, rates };

/// float or double, the precision of the executor.
struct Real {};

/// The Type of operands of this kind.
template <typename Kind>
constexpr Type type_of_operand = Type::real;
template <>
inline constexpr Type type_of_operand<std::int32_t> = Type::classes;
template <>
inline constexpr Type type_of_operand<std::uint32_t> = Type::order;
template <>
inline constexpr Type type_of_operand<Totals> = Type::totals;
template <>
inline constexpr Type type_of_operand<BlockPartial> = Type::partials;
template <>
inline constexpr Type type_of_operand<StepRates> = Type::rates;

/// The part of every batch that a value belongs to: shard number `index` of `count`.
struct Part {
  int index = 0;
  int count = 1;

  /// Whether the mean loss is taken over this part, as if it were a separate batch; else over the
  /// whole batch.
  bool is_alone = false;

  bool operator==(const Part&) const = default;
};

/// A value: name and shape, but no memory. An executor allocates it, once, for the largest batch.
struct Value {
  std::string name = {};  ///< "fc1/weight", "fc1/output", "d fc1/output"
  Shape shape = {};       ///< of one sample's value if it is batched, else of the whole value
  Role role = Role::activation;
  Type type = Type::real;
  bool is_batched = false;  ///< whether there is one for each sample of its part
  Part part = {};           ///< the part of the batch that it is computed from
  ValueId memory_of = {};   ///< takes over the memory of this one, which is no longer read
};

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
