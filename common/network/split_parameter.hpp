/// @file
/// Parameters that are split among the ranks.
#pragma once

#include "network/shard.hpp"
#include "network/value.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// The dimension along which a parameter is split.
enum class SplitAlong : std::uint8_t { none, rows, columns };

/// This rank's part of a parameter of the whole network.
struct SplitParameter {
  ValueId own;
  SplitAlong along = SplitAlong::none;
};

/// The units of a split layer that a rank has: consecutive ones, divided in groups of four, of two
/// or of one: the largest that divide them all, with six groups or more for each rank. Groups of
/// four numbers, or of two doubles, keep the rows of the weights aligned for vector loads; 1,000
/// units for three ranks are 336, 332 and 332.
Shard units_of(Index units, const Part& part);

/// The part of a whole parameter that belongs to one rank.
ParameterValues part_of(const ParameterValues& whole, SplitAlong along, const Part& part);

/// Copies a part back into the whole.
void merge(const ParameterValues& part_values, SplitAlong along, const Part& part, ParameterValues& whole);

}  // namespace stagewise
