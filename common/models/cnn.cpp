#include "models/cnn.hpp"

#include "models/mlp.hpp"
#include "tensor/error.hpp"

namespace stagewise {

template <typename T>
void build_cnn(Network<T>& network, const ModelOptions& options) {
  if (options.sample.rank() != 3) {
    throw UsageError("--model cnn takes images, but a sample of this data set has shape " +
                     options.sample.to_string());
  }
  if (options.activation != Activation::relu) {
    throw UsageError("--model cnn has relu units only; leave --activation out");
  }
  Graph<T>& graph = network.graph;

  //! [cnn]
  Node<T>* layer = network.input;
  const auto add_convolution = [&](const std::string& name, Index filters) {
    constexpr Index side = 5;
    constexpr Index window = 2;
    auto& filter = graph.template add<Parameter<T>>(
        name + "/filter", Shape{side, side, layer->sample_shape()[2], filters},
        ParameterKind::filter);
    Parameter<T>* const bias = add_bias_parameter(graph, name, filters, options);
    layer = &graph.template add<ConvolutionReluPool<T>>(name, *layer, filter, bias, window);
  };
  add_convolution("conv1", 32);
  add_convolution("conv2", 64);
  add_fully_connected(network, *layer, {128}, options);
  //! [cnn]
}

template void build_cnn(Network<float>&, const ModelOptions&);
template void build_cnn(Network<double>&, const ModelOptions&);

}  // namespace stagewise
