/// @file
/// Stage 01 as tests need it: on memory that starts as NaN, far from the host or with a fault.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "01_serial/serial_executor.hpp"
#include "support.hpp"
#include "training/network.hpp"

namespace stagewise {

/// A base, so that it is there before the executor that allocates from it, and outlives it.
struct OwnMemory {
  PoisonedMemory own_memory;
};

template <typename T>
class ObservedExecutor final : private OwnMemory, public SerialExecutor<T> {
 public:
  /// Does an operation's work instead of the stage; false if it leaves that to the stage.
  using Fault = std::function<bool(ObservedExecutor&, const Operation&)>;

  using SerialExecutor<T>::SerialExecutor;
  explicit ObservedExecutor(Fault fault) : fault_(std::move(fault)) {}

  Memory& memory() override { return own_memory; }
  const PoisonedMemory& counter() const { return own_memory; }

  bool host_accessible() const override { return !is_far; }
  void copy_out(void* host, const void* from, std::size_t bytes) override {
    ++copies_out;
    SerialExecutor<T>::copy_out(host, from, bytes);
  }

  bool is_far = false;  ///< whether the host cannot follow pointers, as far as others know
  Index copies_out = 0;

  /// @name For faults
  /// @{
  template <typename Op>
  void compute(const Op& op) {
    SerialExecutor<T>::run(op);
  }
  using SerialExecutor<T>::columns;
  using SerialExecutor<T>::elements;
  using SerialExecutor<T>::rows;
  /// @}

 protected:
  void run(const Line& line) override {
    if (fault_ && fault_(*this, line.operation)) return;
    SerialExecutor<T>::run(line);
  }

 private:
  Fault fault_;
};

/// `work(executor, op)` instead of every operation of one kind.
template <typename Op, typename T = double, typename Work>
typename ObservedExecutor<T>::Fault instead_of(const Work& work) {
  return [work](ObservedExecutor<T>& executor, const Operation& operation) {
    const Op* const op = std::get_if<Op>(&operation);
    if (op != nullptr) work(executor, *op);
    return op != nullptr;
  };
}

/// A program in the making, its inputs and its memory.
template <typename T>
struct Workbench {
  /// A value that is computed.
  ValueId add(const std::string& name, const Shape& shape) {
    return program.add({.name = name, .shape = shape, .is_batched = true});
  }

  /// A parameter, whose values are set when all is loaded.
  ValueId add_parameter(const std::string& name, std::vector<T> values, const Shape& shape) {
    const Role role = shape.rank() == 1 ? Role::bias : Role::weight;
    const ValueId id = program.add({.name = name, .shape = shape, .role = role});
    parameters.emplace_back(id, std::move(values));
    return id;
  }

  /// Something that is given for every sample.
  ValueId add_input(const std::string& name, std::vector<T> values, const Shape& shape) {
    const ValueId id = program.add({.name = name, .shape = shape, .role = Role::data, .is_batched = true});
    inputs.emplace_back(id, std::move(values));
    return id;
  }
  ValueId add_labels(std::vector<std::int32_t> values) {
    labels = std::move(values);
    labels_id = program.add({.name = "labels", .role = Role::data, .type = Type::classes, .is_batched = true});
    return labels_id;
  }

  /// Loads a program that was made from this one.
  void load(const Program& made, Index max_rows) {
    expect_valid(made);
    executor->load(made, max_rows);
    for (auto& [id, values] : inputs) executor->bind(id, values.data());
    if (labels_id) executor->bind(labels_id, labels.data());
    for (const auto& [id, values] : parameters) {
      if (T* const there = executor->data(id)) std::copy(values.begin(), values.end(), there);
    }
  }

  void run(const Program& made, Index rows) {
    load(made, rows);
    executor->execute(made, {.rows = rows});
  }

  /// All elements of a value for as many samples.
  std::vector<T> get(const Program& made, ValueId id, Index rows) const {
    const T* const there = executor->data(id);
    return {there, there + elements_of(made[id], rows)};
  }

  Program program;
  std::vector<std::pair<ValueId, std::vector<T>>> inputs;
  std::vector<std::pair<ValueId, std::vector<T>>> parameters;
  std::vector<std::int32_t> labels;
  ValueId labels_id;
  std::unique_ptr<ObservedExecutor<T>> executor = std::make_unique<ObservedExecutor<T>>();
};

/// Options of a small mlp: whatever there is to choose, at random.
inline ModelOptions random_model(std::uint64_t seed) {
  Random random(seed, Purpose::test);
  const auto any = [&](Index from, std::uint64_t count) { return from + static_cast<Index>(random.below(count)); };
  ModelOptions options = {.hidden = {}};
  for (Index layers = any(0, 4); layers > 0; --layers) options.hidden.push_back(any(3, 6));
  options.activation = activations.at(static_cast<std::size_t>(any(0, activations.size()))).activation;
  options.loss = any(0, 2) == 0 ? LossKind::cross_entropy : LossKind::squared_error;
  options.biases = any(0, 3) > 0;
  options.sample = {any(1, 3), any(1, 3), any(1, 2)};
  options.classes = static_cast<int>(any(2, 4));
  return options;
}

/// A network on stage 01, loaded.
template <typename T>
Network<T> make_network(const ModelOptions& options, Index max_rows, std::unique_ptr<Executor<T>> executor = {}) {
  if (!executor) executor = std::make_unique<ObservedExecutor<T>>();
  Network<T> network(build_model(options), std::move(executor));
  network.load(max_rows);
  return network;
}

}  // namespace stagewise
