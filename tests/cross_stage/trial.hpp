/// @file
/// A few lines of a program on values that a test fills, for any executor.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cross_stage/device_array.hpp"
#include "network/program.hpp"
#include "support.hpp"

namespace stagewise {

/// What is in a value's memory.
template <typename T>
using Contents = std::variant<std::vector<T>, std::vector<std::int32_t>, std::vector<Totals>, std::vector<StepRates>>;

/// Lines under test, and what is in memory before them.
template <typename T>
class Trial {
 public:
  /// @param rows for how many samples the lines are executed.
  /// @param part which shard of a batch these are: its last one.
  explicit Trial(Index rows, const Part& part = {}) : rows_(rows), part_(part) {}

  /// Adds a value with a row a sample. What the memory holds beyond it is to stay as it is.
  ValueId batched(const Shape& sample, Contents<T> contents) {
    return add({.shape = sample, .is_batched = true}, std::move(contents));
  }

  /// Adds a value that is the same for all samples.
  ValueId whole(const Shape& shape, Contents<T> contents, Role role = Role::activation) {
    return add({.shape = shape, .role = role}, std::move(contents));
  }

  /// @name Values to be written: NaNs, and one more behind them
  /// @{
  ValueId batched_output(const Shape& sample) { return batched(sample, poison<T>(rows_ * sample.elements() + 1)); }
  ValueId whole_output(const Shape& shape) { return whole(shape, poison<T>(shape.elements() + 1)); }
  ValueId classes() { return batched({}, std::vector<std::int32_t>(static_cast<std::size_t>(rows_ + 1), -7)); }
  /// @}

  /// Adds a value in the memory of another one, to be written in place.
  ValueId in_memory_of(ValueId other) {
    Value value = program_[other];
    value.memory_of = other;
    return add(std::move(value), {});
  }

  void append(Operation operation) { program_.append(std::move(operation)); }

  const Program& program() const { return program_; }
  Index rows() const { return rows_; }
  const Part& part() const { return part_; }

  /// Samples of the whole batch: the other shards have one more.
  Index batch_rows() const { return rows_ * part_.count + part_.index; }

  /// The same for a shard of a larger batch.
  Trial as(const Part& part) const {
    Trial other = *this;
    other.part_ = part;
    for (Value& value : other.program_.values) value.part = part;
    return other;
  }

  /// Executes a program with the trial's values, its own or what a stage makes of it, in the steps
  /// 1, 2, ...
  /// @return what is in memory then, value by value.
  std::vector<Contents<T>> run(Executor<T>& executor, const Program& program, std::int64_t steps = 1) const {
    executor.load(program, batch_rows());
    using Array = std::variant<DeviceArray<T>, DeviceArray<std::int32_t>, DeviceArray<Totals>, DeviceArray<StepRates>>;
    std::vector<Array> arrays;
    for (int i = 0; i < static_cast<int>(contents_.size()); ++i) {
      const auto make_room = [&](const auto& values) { arrays.push_back(DeviceArray(executor, values)); };
      std::visit(make_room, contents_[static_cast<std::size_t>(i)]);
      if (program_[{i}].memory_of) continue;
      std::visit([&](auto& array) { executor.bind({i}, array.get()); }, arrays.back());
    }
    executor.load(program, batch_rows());  // for stages that make tables of addresses then
    for (std::int64_t step = 1; step <= steps; ++step) {
      executor.execute(program, {.rows = batch_rows(), .step = step});
    }
    std::vector<Contents<T>> result;
    for (const Array& array : arrays) {
      std::visit([&](const auto& one) { result.push_back(one.read(executor)); }, array);
    }
    return result;
  }

  /// Whether `program`, which a stage has made of the trial's, is to leave the same in the memory
  /// of this value: what a fused line makes unnecessary may stay unwritten.
  bool is_comparable(ValueId value, const Program& program) const {
    const auto writes = [&](const Program& which) {
      return std::any_of(which.lines.begin(), which.lines.end(), [&](const Line& line) {
        const std::vector<ValueId> written = written_by(line.operation);
        return std::any_of(written.begin(), written.end(), [&](ValueId id) { return which.memory_of(id) == value; });
      });
    };
    return writes(program) || !writes(program_);
  }

 private:
  ValueId add(Value value, Contents<T> contents) {
    constexpr std::array types = {Type::real, Type::classes, Type::totals, Type::rates};
    if (!value.memory_of) value.type = types.at(contents.index());
    value.name = "value " + std::to_string(program_.values.size());
    value.part = part_;
    contents_.push_back(std::move(contents));
    return program_.add(std::move(value));
  }

  Index rows_;
  Part part_;
  Program program_;
  std::vector<Contents<T>> contents_;
};

}  // namespace stagewise
