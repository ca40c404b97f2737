#include "network/cost.hpp"

#include <array>

#include "network/shard.hpp"

namespace stagewise {
namespace {

/// Counts the operations of a program's lines.
class Counter {
 public:
  Counter(const Program& program, Index rows) : program_(&program), rows_(rows) {}

  double count(const Operation& operation) const {
    return std::visit([this](const auto& op) { return this->of(op); }, operation);
  }

 private:
  double elements(ValueId id) const { return static_cast<double>(elements_of((*program_)[id], rows_)); }
  const Shape& shape(ValueId id) const { return (*program_)[id].shape; }

  double of(const Gemm& op) const {
    // Of the three factors' sizes m k, k n and m n, the product is that of the sides squared.
    const Value& c = (*program_)[op.c];
    const double columns =
        c.is_batched ? static_cast<double>(c.shape.elements()) : static_cast<double>(c.shape[c.shape.rank() - 1]);
    const double right = elements(op.b) / (columns > 0 ? columns : 1);
    return 2 * elements(op.c) * right;
  }
  double of(const Convolution& op) const { return products(op.filter, op.output); }
  double of(const ConvolutionBackward& op) const { return (op.dinput ? 2 : 1) * products(op.filter, op.doutput); }
  double products(ValueId filter, ValueId output) const {
    const Shape& f = shape(filter);
    return 2 * elements(output) * static_cast<double>(f.elements()) / static_cast<double>(f[3]);
  }
  double of(const SgdUpdate& op) const { return (op.l2 != 0 ? 4 : 2) * elements(op.parameter); }

  double of(const MomentumUpdate& op) const {
    return ((op.velocity ? 4 : 2) + (op.l2 != 0 ? 2 : 0)) * elements(op.parameter);
  }
  double of(const AdamUpdate& op) const { return (op.l2 != 0 ? 15 : 13) * elements(op.parameter); }

  // These only move numbers.
  static double of(const Copy& /*op*/) { return 0; }
  static double of(const Gather& /*op*/) { return 0; }
  static double of(const Replicate& /*op*/) { return 0; }

  /// All others: one for each real number that is read.
  template <typename Op>
  double of(const Op& op) const {
    return numbers_read(op);
  }
  double numbers_read(const Operation& operation) const {
    double sum = 0;
    for_each_operand(operation, [&](ValueId id, Use use) {
      if (use != Use::writes && (*program_)[id].type == Type::real) sum += elements(id);
    });
    return sum;
  }

  const Program* program_;
  Index rows_;
};

/// Bytes that a line moves for an operand: of the data set only the batch's samples.
double bytes_moved(const Program& program, const Gather& op, Index rows, int bytes_of_real) {
  const Value& batch = program[op.batch];
  const auto samples = static_cast<double>(elements_of({.is_batched = true, .part = batch.part}, rows));
  const double features = static_cast<double>(batch.shape.elements()) * bytes_of_real;
  return samples * (2 * features + 2 * sizeof(std::int32_t) + sizeof(std::uint32_t));
}

/// A floor that also takes an amount of something at so much per second.
void raise(Floor& floor, double amount, double per_second, Bound bound) {
  if (per_second <= 0 || amount / per_second <= floor.seconds) return;
  floor = {.seconds = amount / per_second, .bound = bound};
}

}  // namespace

Index elements_of(const Value& value, Index rows) {
  const Index elements = value.shape.elements();
  return value.is_batched ? shard_of(rows, value.part.count, value.part.index).rows * elements : elements;
}

std::size_t bytes_of(Type type, int bytes_of_real) {
  const std::array sizes = {static_cast<std::size_t>(bytes_of_real),  // in the order of Type
                            sizeof(std::int32_t),
                            sizeof(std::uint32_t),
                            sizeof(Totals),
                            sizeof(BlockPartial),
                            sizeof(StepRates)};
  return sizes.at(static_cast<std::size_t>(type));
}

Cost cost_of(const Program& program, const Line& line, Index rows, int bytes_of_real) {
  const Counter counter(program, rows);
  Cost cost;
  if (const Gather* const gather = std::get_if<Gather>(&line.operation)) {
    cost.bytes = bytes_moved(program, *gather, rows, bytes_of_real);
    return cost;
  }
  ValueId samples;  // of a line that picks its rows itself
  for_each_operand(line.operation, [&](ValueId id, Use /*use*/) {
    if (program[id].type == Type::order) samples = id;
  });
  for_each_operand(line.operation, [&](ValueId id, Use use) {
    Value value = program[id];
    if (value.role == Role::data && samples) {
      value.is_batched = true;
      value.part = program[samples].part;
    }
    cost.bytes += static_cast<double>(elements_of(value, rows)) *
                  static_cast<double>(bytes_of(value.type, bytes_of_real)) * (use == Use::updates ? 2 : 1);
  });
  if (line.replaces.empty()) cost.operations = counter.count(line.operation);
  for (const Operation& member : line.replaces) cost.operations += counter.count(member);
  return cost;
}

const char* name_of(Bound bound) {
  constexpr std::array names = {"memory", "compute", "launch", "cache", "shared"};
  return names.at(static_cast<std::size_t>(bound));
}

Floor floor_of(const Cost& cost, double launches, const DeviceLimits& limits) {
  Floor floor = {.seconds = launches * limits.launch_seconds, .bound = Bound::launch};
  raise(floor, cost.bytes, limits.bytes_per_second, Bound::memory);
  raise(floor, cost.operations, limits.operations_per_second, Bound::compute);
  return floor;
}

Floor counted_floor_of(const KernelCounters& counters, double operations, const DeviceLimits& limits) {
  Floor floor = floor_of({counters.distinct_bytes, operations}, counters.launches, limits);
  raise(floor, counters.asked_bytes(), limits.cache_bytes_per_second, Bound::cache);
  raise(floor, counters.shared_cycles, limits.shared_cycles_per_second, Bound::shared);
  return floor;
}

}  // namespace stagewise
