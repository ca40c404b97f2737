#include "05_mpi/split_mlp.hpp"

#include <algorithm>
#include <string>

#include "05_mpi/all_reduce.hpp"
#include "models/mlp.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

/// Calls `copy(whole_first, part_first, count)` for every run of numbers that a parameter of the
/// whole network and one of the part have in common.
/// @param name which parameter.
/// @param shape of the whole one.
template <typename Copy>
void for_each_run(const std::string& name, const Shape& shape, const Shard& units,
                  const Copy& copy) {
  if (name == "fc1/weight") {  // columns: a piece of each row
    for (Index row = 0; row < shape[0]; ++row) {
      copy(row * shape[1] + units.first, row * units.rows, units.rows);
    }
  } else if (name == "fc1/bias") {
    copy(units.first, 0, units.rows);
  } else if (name == "fc2/weight") {  // rows, one behind the other
    copy(units.first * shape[1], 0, units.rows * shape[1]);
  } else {  // fc2/bias, which every rank has
    copy(0, 0, shape.elements());
  }
}

Shape part_of(const std::string& name, const Shape& shape, const Shard& units) {
  if (name == "fc1/weight") return {shape[0], units.rows};
  if (name == "fc1/bias") return {units.rows};
  if (name == "fc2/weight") return {units.rows, shape[1]};
  return shape;
}

}  // namespace

void check_splittable(const ModelOptions& model, int ranks) {
  if (model.name != "mlp" || model.hidden.size() != 1) {
    throw UsageError(
        "--strategy tensor splits the hidden layer of --model mlp with a single one, such as "
        "--hidden 256; --strategy data trains every network");
  }
  if (model.hidden.front() < ranks) {
    throw UsageError("--strategy tensor cannot split " +
                     count_of(model.hidden.front(), "hidden unit") + " among " +
                     count_of(ranks, "process", "processes"));
  }
}

template <typename T>
std::unique_ptr<Network<T>> build_split_mlp(Backend<T>& backend, const ModelOptions& model,
                                            Index max_rows, const Shard& units,
                                            Transport<T>& transport) {
  auto network = std::make_unique<Network<T>>(backend, max_rows);
  Graph<T>& graph = network->graph;
  const bool squares = model.loss == LossKind::squared_error;
  //! [split_mlp]
  network->input = &graph.template add<Placeholder<T>>("input", model.sample);
  auto& flat = graph.template add<Flatten<T>>("flatten", *network->input);
  auto& weight1 = graph.template add<Parameter<T>>(
      "fc1/weight", Shape{model.sample.elements(), units.rows}, ParameterKind::weight);
  Parameter<T>* const bias1 = add_bias_parameter(graph, "fc1", units.rows, model);
  auto& hidden = graph.template add<Linear<T>>("fc1", flat, weight1, bias1, model.activation);
  auto& weight2 = graph.template add<Parameter<T>>("fc2/weight", Shape{units.rows, model.classes},
                                                   ParameterKind::weight);
  auto& part = graph.template add<Linear<T>>("fc2", hidden, weight2, nullptr, Activation::none);
  Node<T>* outputs = &graph.template add<AllReduce<T>>("fc2/sum", part, transport);
  if (Parameter<T>* const bias2 = add_bias_parameter(graph, "fc2", model.classes, model)) {
    outputs = &graph.template add<AddBias<T>>("fc2/biased", *outputs, *bias2);
  }
  //! [split_mlp]
  if (squares && model.activation == Activation::sigmoid) {
    outputs = &graph.template add<Sigmoid<T>>("fc2/activated", *outputs);
  }
  if (squares) {
    network->loss = &graph.template add<SquaredError<T>>("loss", *outputs, network->labels);
  } else {
    network->loss = &graph.template add<SoftmaxCrossEntropy<T>>("loss", *outputs, network->labels);
  }
  network->prediction = &graph.template add<ArgMax<T>>("prediction", *outputs);
  graph.build(max_rows, GraphMode::training);
  return network;
}

std::vector<ParameterValues> split_parameters(const std::vector<ParameterValues>& whole,
                                              const Shard& units) {
  std::vector<ParameterValues> part;
  for (const ParameterValues& from : whole) {
    ParameterValues& to = part.emplace_back();
    to.name = from.name;
    to.shape = part_of(from.name, from.shape, units);
    to.values.resize(static_cast<std::size_t>(to.shape.elements()));
    for_each_run(from.name, from.shape, units, [&](Index source, Index target, Index count) {
      std::copy_n(from.values.begin() + source, count, to.values.begin() + target);
    });
  }
  return part;
}

void merge_parameters(const std::vector<ParameterValues>& part, const Shard& units,
                      std::vector<ParameterValues>& whole) {
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for_each_run(
        whole[k].name, whole[k].shape, units, [&](Index target, Index source, Index count) {
          std::copy_n(part[k].values.begin() + source, count, whole[k].values.begin() + target);
        });
  }
}

template std::unique_ptr<Network<float>> build_split_mlp(Backend<float>&, const ModelOptions&,
                                                         Index, const Shard&, Transport<float>&);
template std::unique_ptr<Network<double>> build_split_mlp(Backend<double>&, const ModelOptions&,
                                                          Index, const Shard&, Transport<double>&);

}  // namespace stagewise::mpi
