#include <algorithm>
#include <string>
#include <vector>

#include "05_mpi/distribute.hpp"
#include "network/shard.hpp"

namespace stagewise::mpi {
namespace {

/// Each further band adds the latencies of a product and of a sum.
constexpr int max_bands = 2;

/// A gradient has at most one band for each this many numbers.
constexpr Index min_band = 1 << 17;

/// A band begins at a multiple of this many rows, which suits tiles and 16-byte vectors.
constexpr Index rows_in_group = 16;

/// The last line that stores the gradient of a layer's weights; the number of lines if there is
/// none.
std::size_t last_gradients(const Program& program) {
  for (std::size_t i = program.lines.size(); i-- > 0;) {
    const auto* const line = std::get_if<LinearGradients>(&program.lines[i].operation);
    if (line != nullptr && line->dweight) return i;
  }
  return program.lines.size();
}

/// The line that sums a gradient, in a bucket of which it is the last; the number of lines if there
/// is none.
std::size_t sum_of(const Program& program, ValueId gradient) {
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const auto* const sum = std::get_if<AllReduce>(&program.lines[i].operation);
    if (sum != nullptr && sum->values.back() == gradient) return i;
  }
  return program.lines.size();
}

/// Adds a band of a value.
ValueId add_slice(Program& program, ValueId whole, const Shard& rows) {
  Value slice = program[whole];
  slice.name +=
      "[" + std::to_string(rows.first) + ":" + std::to_string(rows.first + rows.rows) + "]";
  slice.shape = {rows.rows, slice.shape[1]};
  slice.memory_of = program.memory_of(whole);
  slice.first_row = rows.first;
  return program.add(slice);
}

/// A line that does the same for a slice of a value.
Line with_slice(Line line, ValueId whole, ValueId slice) {
  const auto replace = [&](ValueId& id, Use /*use*/) {
    if (id == whole) id = slice;
  };
  for_each_operand(line.operation, replace);
  for (Operation& member : line.replaces) for_each_operand(member, replace);
  return line;
}

}  // namespace

//! [sum_in_bands]
Program sum_in_bands(const Program& program, Index max_rows, Index fewest_rows) {
  Program result = program;
  const std::size_t line = last_gradients(program);
  if (line == program.lines.size()) return result;
  const auto gradients = std::get<LinearGradients>(program.lines[line].operation);
  const ValueId whole = gradients.dweight;
  if (max_rows / program[whole].part.count < fewest_rows) return result;  // the same on all ranks
  const std::size_t sum = sum_of(program, whole);
  const Shape& shape = program[whole].shape;
  const Index groups = (shape[0] + rows_in_group - 1) / rows_in_group;
  const auto bands =
      static_cast<int>(std::min<Index>({max_bands, shape.elements() / min_band, groups}));
  if (sum == program.lines.size() || bands < 2) return result;

  std::vector<Line> gradients_of_bands;
  std::vector<Line> sums_of_bands;
  for (int band = 0; band < bands; ++band) {
    const Shard own = shard_of(groups, bands, band);
    const Index first = rows_in_group * own.first;
    const Shard rows = {first, std::min(rows_in_group * own.rows, shape[0] - first)};
    const ValueId slice = add_slice(result, whole, rows);
    Line of_gradients = with_slice(program.lines[line], whole, slice);
    Line of_sum = with_slice(program.lines[sum], whole, slice);
    if (band > 0) {  // the first band's lines compute and sum the rest
      auto& operation = std::get<LinearGradients>(of_gradients.operation);
      operation.dbias = {};
      operation.last = {};
      std::erase_if(of_gradients.replaces,
                    [](const Operation& member) { return !std::holds_alternative<Gemm>(member); });
      auto& values = std::get<AllReduce>(of_sum.operation).values;
      values.erase(values.begin(), values.end() - 1);
    }
    gradients_of_bands.push_back(std::move(of_gradients));
    sums_of_bands.push_back(std::move(of_sum));
  }
  const auto replace = [&](std::size_t old, const std::vector<Line>& bands_of_line) {
    const auto place = result.lines.erase(result.lines.begin() + static_cast<std::ptrdiff_t>(old));
    result.lines.insert(place, bands_of_line.begin(), bands_of_line.end());
  };
  replace(sum, sums_of_bands);  // the later line first: the other's number stays valid
  replace(line, gradients_of_bands);
  return result;
}
//! [sum_in_bands]

}  // namespace stagewise::mpi
