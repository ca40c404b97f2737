#include "network/split_parameter.hpp"

#include <algorithm>

namespace stagewise {
namespace {

/// Calls `copy(whole_first, part_first, count)` for every run of consecutive numbers that a whole
/// parameter and a rank's part of it have in common.
template <typename Copy>
void for_each_run(const Shape& whole, SplitAlong along, const Part& part, const Copy& copy) {
  const Index columns = whole[whole.rank() - 1];
  const Index rows = whole.elements() / columns;
  if (along == SplitAlong::columns) {  // a piece of each row
    const Shard own = units_of(columns, part);
    for (Index row = 0; row < rows; ++row) {
      copy(row * columns + own.first, row * own.rows, own.rows);
    }
  } else if (along == SplitAlong::rows) {  // consecutive rows
    const Shard own = units_of(rows, part);
    copy(own.first * columns, 0, own.rows * columns);
  } else {
    copy(0, 0, whole.elements());
  }
}

}  // namespace

//! [units_of]
Shard units_of(Index units, const Part& part) {
  Index group = 4;
  while (group > 1 && (units % group != 0 || units / group / 6 < part.count)) group /= 2;
  const Shard groups = shard_of(units / group, part.count, part.index);
  return {.first = groups.first * group, .rows = groups.rows * group};
}
//! [units_of]

ParameterValues part_of(const ParameterValues& whole, SplitAlong along, const Part& part) {
  ParameterValues result{.name = whole.name, .shape = whole.shape, .values = {}};
  const Shape& shape = whole.shape;
  if (along == SplitAlong::columns) {
    const Index units = units_of(shape[shape.rank() - 1], part).rows;
    result.shape = shape.rank() == 1 ? Shape{units} : Shape{shape[0], units};
  } else if (along == SplitAlong::rows) {
    result.shape = {units_of(shape[0], part).rows, shape[1]};
  }
  result.values.resize(static_cast<std::size_t>(result.shape.elements()));
  for_each_run(whole.shape, along, part, [&](Index source, Index target, Index count) {
    std::copy_n(whole.values.begin() + source, count, result.values.begin() + target);
  });
  return result;
}

void merge(const ParameterValues& part_values, SplitAlong along, const Part& part, ParameterValues& whole) {
  for_each_run(whole.shape, along, part, [&](Index target, Index source, Index count) {
    std::copy_n(part_values.values.begin() + source, count, whole.values.begin() + target);
  });
}

}  // namespace stagewise
