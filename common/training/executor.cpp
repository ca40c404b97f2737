#include "training/executor.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "network/program.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
template <typename T>
double Executor<T>::measure(const std::function<void()>& work) {
  synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
std::vector<ValueId> Executor<T>::missing(const Program& program) const {
  std::vector<ValueId> result;
  for (const Line& line : program.lines) {
    for_each_operand(line.operation, [&](ValueId id, Use /*use*/) {
      const ValueId root = program.memory_of(id);
      const auto i = static_cast<std::size_t>(root.index);
      const bool is_there = program[root].role == Role::data || (i < owned_.size() && owned_[i].data() != nullptr) ||
                            std::find(result.begin(), result.end(), root) != result.end();
      if (!is_there) result.push_back(root);
    });
  }
  return result;
}

namespace {

template <typename T>
double bytes_of(const Value& value, Index rows) {
  return static_cast<double>(elements_of(value, rows)) *
         static_cast<double>(stagewise::bytes_of(value.type, sizeof(T)));
}

}  // namespace

template <typename T>
double Executor<T>::missing_bytes(const Program& program, Index max_rows) const {
  double bytes = 0;
  for (const ValueId id : missing(program)) bytes += bytes_of<T>(program[id], max_rows);
  return bytes;
}

template <typename T>
void Executor<T>::expect_room(const Program& program, Index max_rows) {
  const double bytes = missing_bytes(program, max_rows);
  const Memory::Room room = memory().room();
  if (bytes <= static_cast<double>(room.bytes)) return;
  throw Error("the network, for a batch of " + count_of(max_rows, "sample") + ", needs at least " + size_text(bytes) +
              ", but " + size_text(static_cast<double>(room.bytes)) + " of " + room.of +
              " are free; a smaller network or --batch-size needs less");
}

template <typename T>
void Executor<T>::expect_computed(const Operation& operation) const {
  for_each_activation([&]<Activation a>() {
    if (is_a<Activate<a>, ActivateBackward<a>>(operation) && !computes(a)) {
      throw UsageError("this stage does not compute " + std::string(names_of(a).name) + " yet");
    }
  });
}

//! [load]
template <typename T>
void Executor<T>::load(const Program& program, Index max_rows, const std::function<void(double)>& on_size) {
  for (std::size_t i = 0; i < std::min(values_.size(), program.values.size()); ++i) {
    if (values_[i].name != program.values[i].name) {
      throw std::logic_error("this executor has loaded another program, with " + values_[i].name + " for " +
                             program.values[i].name);
    }
  }
  for (const Line& line : program.lines) expect_computed(line.operation);
  max_rows_ = max_rows;
  batch_.rows = max_rows;
  expect_room(program, max_rows);
  if (on_size) on_size(missing_bytes(program, max_rows));

  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId root = program.memory_of({static_cast<int>(i)});
    if (i == values_.size()) {
      values_.push_back(program.values[i]);
      roots_.push_back(root);
    } else if (program.values[i].memory_of) {
      roots_[i] = root;
      owned_[i] = {};  // it has moved into another one's
    }
  }
  owned_.resize(values_.size());
  bound_.resize(values_.size());
  for (const ValueId id : missing(program)) {
    const auto size = static_cast<Index>(bytes_of<T>(program[id], max_rows));
    owned_[static_cast<std::size_t>(id.index)] = Tensor<std::byte>({std::max<Index>(size, 1)}, memory());
  }
  prepare(program);
}
//! [load]

template <typename T>
void Executor<T>::bind(ValueId value, void* memory) {
  bound_[static_cast<std::size_t>(value.index)] = memory;
}

template <typename T>
void Executor<T>::read_from(const Dataset& dataset, std::span<const std::uint32_t> order) {
  dataset_ = &dataset;
  order_ = order;
}

template <typename T>
void Executor<T>::begin(const Batch& batch) {
  if (batch.rows > max_rows_) {
    throw Error("a batch of " + count_of(batch.rows, "sample") + " does not fit into a network loaded for " +
                with_thousands(max_rows_));
  }
  batch_ = batch;
}

//! [execute]
template <typename T>
void Executor<T>::execute(const Program& program, const Batch& batch) {
  begin(batch);
  for (const Line& line : program.lines) {
    if (!measures_) {
      run(line);
      continue;
    }
    const auto [row, is_new] = rows_of_lines_.try_emplace(&line, timings_.size());
    if (is_new) {
      row->second = row_of(line_text(program, line));
      timings_[row->second].is_backward = is_backward(program, line.operation);
    }
    measure_into(row->second, [&] { run(line); });
    timings_[row->second].cost += cost_of(program, line, batch.rows, sizeof(T));
  }
}
//! [execute]

template <typename T>
void Executor<T>::run_timed(const std::string& operation, const std::function<void()>& work) {
  if (!measures_) return work();
  measure_into(row_of(operation), work);
}

template <typename T>
std::size_t Executor<T>::row_of(const std::string& operation) {
  const auto row = std::ranges::find(timings_, operation, &Timing::operation);
  const auto number = static_cast<std::size_t>(row - timings_.begin());
  if (row == timings_.end()) timings_.push_back({.operation = operation});
  return number;
}

template <typename T>
void Executor<T>::measure_into(std::size_t row, const std::function<void()>& work) {
  const KernelCounters before = counters();
  const double seconds = measure(work);
  Timing& timing = timings_[row];
  timing.counters += counters() - before;
  timing.seconds += seconds;
  if (timing.calls == 0) timing.first_seconds = seconds;
  ++timing.calls;
}

template <typename T>
void Executor<T>::run(const AllReduce& /*op*/) {
  throw std::logic_error("a program for several processes is executed by one");
}

template <typename T>
void* Executor<T>::address_of(ValueId id) {
  if (!id) return nullptr;
  const ValueId root = roots_[static_cast<std::size_t>(id.index)];
  void* const bound = bound_[static_cast<std::size_t>(root.index)];
  std::byte* address =
      bound != nullptr ? static_cast<std::byte*>(bound) : owned_[static_cast<std::size_t>(root.index)].data();
  if (address == nullptr || value(id).part == value(root).part) return address;
  return address + static_cast<std::size_t>(shard(id).first * value(id).shape.elements()) *
                       stagewise::bytes_of(value(id).type, sizeof(T));
}

template <typename T>
Index Executor<T>::columns(ValueId id) const {
  const Value& of = value(id);
  return of.is_batched ? of.shape.elements() : of.shape[of.shape.rank() - 1];
}

template <typename T>
std::span<const std::uint32_t> Executor<T>::samples(ValueId id) const {
  const Shard own = shard(id);
  return order_.subspan(static_cast<std::size_t>(batch_.first + own.first), static_cast<std::size_t>(own.rows));
}

template <typename T>
GemmProblem<T> Executor<T>::problem(const Gemm& op) {
  const bool is_flipped = op.op_a == Transpose::yes;
  return {.op_a = op.op_a,
          .op_b = op.op_b,
          .m = rows(op.c),
          .n = columns(op.c),
          .k = is_flipped ? rows(op.a) : columns(op.a),
          .a = at(op.a),
          .b = at(op.b),
          .c = at(op.c)};
}

template <typename T>
ConvolutionProblem Executor<T>::problem(ValueId input, ValueId filter) const {
  return ConvolutionProblem::of(shard(input).rows, value(input).shape, value(filter).shape);
}

template <typename T>
PoolingProblem Executor<T>::pooling(ValueId input, Index window) const {
  const Shape& image = value(input).shape;
  return {.batch = shard(input).rows, .height = image[0], .width = image[1], .channels = image[2], .window = window};
}

template class Executor<float>;
template class Executor<double>;

}  // namespace stagewise
