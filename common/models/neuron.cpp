#include "models/neuron.hpp"

#include "tensor/error.hpp"

namespace stagewise {

template <typename T>
void build_neuron(Network<T>& network, const ModelOptions& options) {
  if (options.classes != 2) {
    throw UsageError("--model neuron tells two classes apart, but the data set has " +
                     std::to_string(options.classes));
  }
  Graph<T>& graph = network.graph;

  //! [neuron]
  auto& input = graph.template add<Flatten<T>>("flatten", *network.input);
  auto& weight = graph.template add<Parameter<T>>("fc1/weight", Shape{input.sample_shape()[0], 1},
                                                  ParameterKind::weight);
  auto& bias = graph.template add<Parameter<T>>("fc1/bias", Shape{1}, ParameterKind::bias);
  auto& unit = graph.template add<Linear<T>>("fc1", input, weight, &bias, Activation::sigmoid);
  network.loss = &graph.template add<SquaredError<T>>("loss", unit, network.labels);
  network.prediction = &graph.template add<Threshold<T>>("prediction", unit, T{0.5});
  //! [neuron]
}

template void build_neuron(Network<float>&, const ModelOptions&);
template void build_neuron(Network<double>&, const ModelOptions&);

}  // namespace stagewise
