#include "models/mlp.hpp"

namespace stagewise {

template <typename T>
Parameter<T>* add_bias_parameter(Graph<T>& graph, const std::string& layer, Index length,
                                 const ModelOptions& options) {
  if (!options.biases) return nullptr;
  return &graph.template add<Parameter<T>>(layer + "/bias", Shape{length}, ParameterKind::bias);
}

template <typename T>
void add_fully_connected(Network<T>& network, Node<T>& input, const std::vector<Index>& hidden,
                         const ModelOptions& options) {
  Graph<T>& graph = network.graph;
  const Activation output_activation =
      options.loss == LossKind::squared_error && options.activation == Activation::sigmoid
          ? Activation::sigmoid
          : Activation::none;

  //! [mlp]
  Node<T>* layer = &graph.template add<Flatten<T>>("flatten", input);
  std::vector<Index> widths = hidden;
  widths.push_back(options.classes);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = "fc" + std::to_string(i + 1);
    const bool is_output = i + 1 == widths.size();
    auto& weight = graph.template add<Parameter<T>>(
        name + "/weight", Shape{layer->sample_shape()[0], widths[i]}, ParameterKind::weight);
    Parameter<T>* const bias = add_bias_parameter(graph, name, widths[i], options);
    layer = &graph.template add<Linear<T>>(name, *layer, weight, bias,
                                           is_output ? output_activation : options.activation);
  }
  //! [mlp]

  if (options.loss == LossKind::cross_entropy) {
    network.loss = &graph.template add<SoftmaxCrossEntropy<T>>("loss", *layer, network.labels);
  } else {
    network.loss = &graph.template add<SquaredError<T>>("loss", *layer, network.labels);
  }
  network.prediction = &graph.template add<ArgMax<T>>("prediction", *layer);
}

template <typename T>
void build_mlp(Network<T>& network, const ModelOptions& options) {
  add_fully_connected(network, *network.input, options.hidden, options);
}

template void build_mlp(Network<float>&, const ModelOptions&);
template void build_mlp(Network<double>&, const ModelOptions&);
template void add_fully_connected(Network<float>&, Node<float>&, const std::vector<Index>&,
                                  const ModelOptions&);
template void add_fully_connected(Network<double>&, Node<double>&, const std::vector<Index>&,
                                  const ModelOptions&);
template Parameter<float>* add_bias_parameter(Graph<float>&, const std::string&, Index,
                                              const ModelOptions&);
template Parameter<double>* add_bias_parameter(Graph<double>&, const std::string&, Index,
                                               const ModelOptions&);

}  // namespace stagewise
