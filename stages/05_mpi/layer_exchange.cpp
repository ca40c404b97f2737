#include "05_mpi/layer_exchange.hpp"

#include <algorithm>
#include <string>

#include "training/sgd.hpp"

namespace stagewise::mpi {
namespace {

/// "fc1" of "fc1/weight".
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.find('/'));
}

}  // namespace

template <typename T>
LayerExchange<T>::LayerExchange(Graph<T>& graph, const Sgd& sgd, World& world,
                                const cuda::Stream& stream, const TransportOptions& options)
    : graph_(&graph), sgd_(&sgd) {
  Index all = 0;
  for (Parameter<T>* const parameter : graph.parameters()) {
    const bool is_same = !layers_.empty() && layer_of(layers_.back().parameters.back()->name()) ==
                                                 layer_of(parameter->name());
    Layer& layer = is_same ? layers_.back() : layers_.emplace_back();
    layer.parameters.push_back(parameter);
    layer.pieces.push_back({parameter->gradient(), parameter->elements()});
    all += parameter->elements();
  }
  std::reverse(layers_.begin(), layers_.end());
  transport_ = make_transport<T>(options, world, stream, all);
}

//! [complete]
template <typename T>
void LayerExchange<T>::complete(Parameter<T>& parameter) {
  const auto owner = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    return std::find(layer.parameters.begin(), layer.parameters.end(), &parameter) !=
           layer.parameters.end();
  });
  ++owner->complete;
  // In the same order on every rank, whichever comes first here.
  while (next_ < layers_.size() && layers_[next_].complete == layers_[next_].parameters.size()) {
    transport_->begin(layers_[next_++].pieces);
  }
}

template <typename T>
void LayerExchange<T>::finish() {
  transport_->finish();
  update(*graph_, *sgd_);
  for (Layer& layer : layers_) layer.complete = 0;
  next_ = 0;
}
//! [complete]

template <typename T>
void LayerExchange<T>::contribute_nothing() {
  for (const Layer& layer : layers_) {
    for (Parameter<T>* const parameter : layer.parameters) {
      graph_->backend().fill(parameter->elements(), T{0}, parameter->gradient());
      complete(*parameter);
    }
  }
  finish();
}

template class LayerExchange<float>;
template class LayerExchange<double>;

}  // namespace stagewise::mpi
