/// @file
/// Parameters of which each rank has a part.
#pragma once

#include "network/value.hpp"
#include "tensor/parameter_values.hpp"

namespace stagewise::mpi {

/// Along which dimension of a parameter each rank has some.
enum class SplitAlong : std::uint8_t { none, rows, columns };

/// Where a parameter of the whole network is on this rank.
struct SplitParameter {
  ValueId own;
  SplitAlong along = SplitAlong::none;
};

/// The part of a whole parameter that belongs to one rank.
ParameterValues part_of(const ParameterValues& whole, SplitAlong along, const Part& part);

/// Puts a part back into the whole.
void merge(const ParameterValues& part_values, SplitAlong along, const Part& part,
           ParameterValues& whole);

}  // namespace stagewise::mpi
