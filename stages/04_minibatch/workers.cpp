#include "04_minibatch/workers.hpp"

#include <algorithm>
#include <stdexcept>

#include "04_minibatch/linear.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// What stands at the end of a network, as minibatch::loss() takes it; the batch is missing.
template <typename T>
minibatch::LossProblem<T> describe_loss(Network<T>& network) {
  minibatch::LossProblem<T> problem;
  Node<T>& outputs = *network.loss->inputs().front();
  problem.outputs = outputs.value();
  problem.doutputs = outputs.gradient();
  problem.classes = network.loss->classes();
  if (dynamic_cast<SquaredError<T>*>(network.loss) != nullptr) {
    problem.form = minibatch::LossForm::squared_error;
  }
  if (const auto* const threshold = dynamic_cast<Threshold<T>*>(network.prediction)) {
    problem.is_cut = true;
    problem.cut = threshold->cut();
  }
  if (const auto* const layer = dynamic_cast<Linear<T>*>(&outputs)) {
    problem.activation = layer->activation();
  }
  return problem;
}

/// Makes the layer below the loss expect its gradient as minibatch::loss() leaves it.
template <typename T>
void fuse_loss(Network<T>& network) {
  auto* const layer = dynamic_cast<Linear<T>*>(network.loss->inputs().front());
  if (layer != nullptr) layer->leave_activation_to_reader();
}

}  // namespace

template <typename T>
Workers<T>::Workers(Network<T>& network, MinibatchBackend<T>& backend, const ModelOptions& model,
                    const Sgd& sgd, const WorkerOptions& options,
                    const std::vector<std::vector<ParameterValues>>& starts, bool fuses,
                    GradientExchange<T>* exchange)
    : network_(&network), backend_(&backend), sgd_(sgd), options_(options), exchange_(exchange) {
  const bool have_own_weights = options.average == Average::weights;
  if (have_own_weights && starts.size() != static_cast<std::size_t>(options.workers)) {
    throw Error(std::to_string(options.workers) + " workers cannot start from the parameters of " +
                std::to_string(starts.size()));
  }
  const Index most_rows = shard_of(network.graph.max_rows(), options.workers, 0).rows;
  for (int i = 0; i < options.workers; ++i) {
    Worker& worker = workers_.emplace_back();
    worker.backend = &backend;
    worker.network = &network;
    try {
      if (i > 0) {
        worker.own_backend = std::make_unique<MinibatchBackend<T>>(fuses);
        worker.backend = worker.own_backend.get();
      }
      if (i > 0 || have_own_weights) {
        worker.own_network = build_model<T>(*worker.backend, model, most_rows, GraphMode::training);
        worker.network = worker.own_network.get();
      }
    } catch (const Error& error) {  // too little memory, and what needs less of it
      if (i == 0) throw;
      throw Error(std::string(error.what()) + ", and so do fewer --workers");
    }
    worker.totals = backend.template allocate<Totals>({1});
    fuse_loss(*worker.network);
    Graph<T>& graph = worker.network->graph;
    if (have_own_weights) {
      copy_parameters_in(graph, starts[static_cast<std::size_t>(i)], "a worker's start");
    } else if (i > 0) {
      for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        graph.parameters()[k]->share_value(*network.graph.parameters()[k]);
      }
    }
    const bool is_alone = options.workers == 1 && exchange == nullptr;
    if (have_own_weights || is_alone) graph.update_in_backward(&sgd_);
  }
  if (exchange != nullptr) exchange_gradients(network.graph);
  list_parameters();
  if (have_own_weights) average_weights(false);
}

template <typename T>
void Workers<T>::exchange_gradients(Graph<T>& graph) {
  if (options_.workers != 1 || options_.average != Average::gradients) {
    throw std::logic_error("gradients are exchanged with other processes by a single worker");
  }
  graph.on_gradient_complete([this](Parameter<T>& parameter) { exchange_->complete(parameter); });
}

template <typename T>
void Workers<T>::list_parameters() {
  std::vector<minibatch::MeanParameter<T>> mean;
  std::vector<minibatch::WorkersPart<T>> parts;
  Index blocks = 0;
  const auto& parameters = network_->graph.parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const bool is_bias = parameters[k]->kind() == ParameterKind::bias;
    mean.push_back({.value = parameters[k]->value(),
                    .elements = parameters[k]->elements(),
                    .first_block = blocks,
                    .l2 = is_bias ? T{0} : static_cast<T>(sgd_.l2)});
    blocks += minibatch::blocks_for(parameters[k]->elements());
    for (const Worker& worker : workers_) {
      Parameter<T>& own = *worker.network->graph.parameters()[k];
      parts.push_back({.value = own.value(), .gradient = own.gradient()});
    }
  }
  mean_ = backend_->template allocate<minibatch::MeanParameter<T>>({std::ssize(mean)});
  parts_ = backend_->template allocate<minibatch::WorkersPart<T>>({std::ssize(parts)});
  backend_->copy_in(mean_.data(), mean.data(), mean.size() * sizeof(mean.front()));
  backend_->copy_in(parts_.data(), parts.data(), parts.size() * sizeof(parts.front()));
  lists_ = {.workers = options_.workers,
            .parameters = static_cast<int>(mean.size()),
            .blocks = blocks,
            .mean = mean_.data(),
            .parts = parts_.data()};
}

//! [step]
template <typename T>
void Workers<T>::enqueue_step(const DeviceBatch<T>& batch, const std::int64_t* steps_before,
                              std::int64_t step) {
  const cuda::Stream& main = backend_->own_stream();
  if (workers_.size() > 1) begun_.record(main);
  for (int i = 0; i < options_.workers; ++i) {
    const Shard shard = shard_of(batch.rows, options_.workers, i);
    if (shard.rows == 0) break;
    Worker& worker = workers_[static_cast<std::size_t>(i)];
    if (i > 0) begun_.make_wait(worker.backend->own_stream());
    enqueue_shard(worker, batch, shard, steps_before, step);
    if (i > 0) worker.done.record(worker.backend->own_stream());
  }
  for (int i = 1; i < options_.workers && shard_of(batch.rows, options_.workers, i).rows > 0; ++i) {
    workers_[static_cast<std::size_t>(i)].done.make_wait(main);
  }
  if (exchange_ != nullptr) {
    run_timed(network_->graph, average_, [&] { exchange_->finish(); });
  }
  if (options_.workers == 1 || options_.average == Average::weights) return;
  run_timed(network_->graph, average_, [&] {
    minibatch::update_by_mean_gradient(main.get(), lists_, batch.rows,
                                       static_cast<T>(sgd_.learning_rate));
  });
}

template <typename T>
void Workers<T>::enqueue_shard(Worker& worker, const DeviceBatch<T>& batch, const Shard& shard,
                               const std::int64_t* steps_before, std::int64_t step) {
  Network<T>& network = *worker.network;
  Graph<T>& graph = network.graph;
  if (!network_->graph.timings().empty() && graph.timings().empty()) graph.enable_timings();
  minibatch::LossProblem<T> loss = describe_loss(network);
  loss.rows = shard.rows;
  if (exchange_ != nullptr) loss.batch_rows = exchange_->batch_rows();
  const minibatch::TotalsProblem totals = {
      .totals = worker.totals.data(), .steps_before = steps_before, .step = step};
  if (batch.selection.order != nullptr) {
    const Selection part = {batch.selection.order + shard.first};
    network.input->use(batch.features, part);
    loss.labels = batch.labels;
    loss.selection = part;
  } else {
    network.input->use(batch.features + shard.first * network.input->sample_shape().elements());
    loss.labels = batch.labels + shard.first;
  }

  graph.set_rows(shard.rows);
  MinibatchBackend<T>& backend = *worker.backend;
  // An exchange begins where a gradient is complete in the main stream.
  if (graph.timings().empty() && exchange_ == nullptr) backend.fork();
  auto* const layer = dynamic_cast<Linear<T>*>(network.loss->inputs().front());
  minibatch::OutputLayerProblem<T> last;
  if (layer != nullptr) last = {layer->backward_problem(shard.rows), loss};
  if (layer != nullptr && backend.fuses_output_layer(last)) {
    const std::size_t end = graph.number_of(*layer);
    graph.forward_before(end);
    run_timed(graph, output_layer_, [&] { backend.output_layer(last, totals); });
    if (exchange_ != nullptr) {
      for (Node<T>* const input : layer->inputs()) {
        auto* const parameter = dynamic_cast<Parameter<T>*>(input);
        if (parameter != nullptr) exchange_->complete(*parameter);
      }
    }
    graph.backward_before(end);
  } else {
    const std::size_t end = graph.number_of(*network.loss);
    graph.forward_before(end);
    run_timed(graph, loss_, [&] { backend.loss(loss, totals); });
    graph.backward_before(end);
  }
  backend.join();
}
//! [step]

template <typename T>
void Workers<T>::average_weights(bool workers_too) {
  run_timed(network_->graph, average_,
            [&] { minibatch::average_weights(backend_->own_stream().get(), lists_, workers_too); });
}

template <typename T>
void Workers<T>::reset_totals() {
  const Totals zero;
  for (Worker& worker : workers_) backend_->copy_in(worker.totals.data(), &zero, sizeof(zero));
}

template <typename T>
Totals Workers<T>::totals() {
  Totals all;
  for (Worker& worker : workers_) {
    Totals own;
    backend_->copy_out(&own, worker.totals.data(), sizeof(own));
    all.loss += own.loss;
    all.correct += own.correct;
    const bool is_earlier = own.first_bad_step >= 0 &&
                            (all.first_bad_step < 0 || own.first_bad_step < all.first_bad_step);
    if (is_earlier) all.first_bad_step = own.first_bad_step;
  }
  return all;
}

template <typename T>
std::vector<Timing> Workers<T>::timings() const {
  std::vector<Timing> rows;
  for (const Worker& worker : workers_) {
    if (worker.own_network == nullptr) continue;  // the main network's rows are there already
    const std::vector<Timing>& own = worker.network->graph.timings();
    rows.insert(rows.end(), own.begin(), own.end());
  }
  rows.push_back(output_layer_);
  rows.push_back(loss_);
  rows.push_back(average_);
  return rows;
}

template <typename T>
std::vector<std::vector<ParameterValues>> Workers<T>::parameters() const {
  if (options_.average == Average::gradients) return {};
  std::vector<std::vector<ParameterValues>> all;
  for (const Worker& worker : workers_) all.push_back(copy_parameters_out(worker.network->graph));
  return all;
}

template <typename T>
bool Workers<T>::selects_rows() const {
  if (!backend_->selects_rows()) return false;
  // The input, and what passes it on as it is.
  std::vector<const Node<T>*> same = {network_->input};
  for (const auto& node : network_->graph.nodes()) {
    const auto& inputs = node->inputs();
    const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](const Node<T>* input) {
      return std::find(same.begin(), same.end(), input) != same.end();
    });
    if (!reads) continue;
    if (dynamic_cast<const Flatten<T>*>(node.get()) != nullptr) {
      same.push_back(node.get());
    } else if (dynamic_cast<const Linear<T>*>(node.get()) == nullptr ||
               !minibatch::fits_linear(network_->graph.max_rows(),
                                       network_->input->sample_shape().elements(),
                                       node->sample_shape().elements())) {
      return false;
    }
  }
  return true;
}

template class Workers<float>;
template class Workers<double>;

}  // namespace stagewise
