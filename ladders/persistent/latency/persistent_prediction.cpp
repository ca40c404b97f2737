#include "ladders/persistent/latency/persistent_prediction.hpp"

#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "cuda/device.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch {
namespace {

/// The network's layers, first to last; none unless its prediction consists only of these.
template <typename T>
std::vector<Linear> layers_of(const Network<T>& network) {
  std::vector<Linear> layers;
  ValueId last = network.model.batch;
  for (const Line& line : network.prediction.lines) {
    if (const Linear* const layer = std::get_if<Linear>(&line.operation)) {
      if (layer->input != last) return {};
      layers.push_back(*layer);
      last = layer->output;
    } else if (!is_a<ArgMax, Threshold>(line.operation)) {
      return {};
    }
  }
  return layers;
}

/// Decides which weights each block keeps: layer by layer, as long as they fit.
/// @return whether everything that must be in shared memory fits.
template <typename T>
bool plan_shared_memory(PersistentMlp<T>& mlp, std::int64_t capacity) {
  const int last = mlp.layer_count - 1;
  std::int64_t widest = 0;
  for (int l = 0; l <= last; ++l) widest = std::max<std::int64_t>(widest, mlp.layers[l].in);
  const std::int64_t begin = widest + mlp.layers[last].out;  // an input, and the last outputs
  if (begin > capacity) return false;

  const auto keep = [&](PersistentLayer<T>& layer, int workers, std::int64_t at) {
    const std::int64_t units = (layer.out + workers - 1) / workers;
    const std::int64_t end = at + units * (layer.in + 1);
    if (end > capacity) return at;
    layer.kept_at = static_cast<int>(at);
    return end;
  };
  std::int64_t end_hidden = begin;
  for (int l = 0; l < last; ++l) end_hidden = keep(mlp.layers[l], mlp.blocks - 1, end_hidden);
  const std::int64_t end_last = keep(mlp.layers[last], 1, begin);
  mlp.kept_begins = static_cast<int>(begin);
  mlp.shared_elements = static_cast<int>(std::max(end_hidden, end_last));
  return true;
}

/// While a persistent kernel runs, anything that waits for the whole GPU waits forever; freeing the
/// memory of another kernel does. So there is only one at a time.
std::atomic<int>& running() {
  static std::atomic<int> count = 0;
  return count;
}

/// Whether a launch returns only when its kernel has ended, which a persistent one never does.
bool launches_wait() {
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  return !cuda::runs_on_cpu() && blocking != nullptr && std::string_view(blocking) != "0";
}

}  // namespace

template <typename T>
std::optional<PersistentMlp<T>> plan_persistent_mlp(Network<T>& network) {
  const std::vector<Linear> layers = layers_of(network);
  const bool is_possible =
      network.executor->max_rows() == 1 && !layers.empty() && layers.size() <= max_persistent_layers;
  if (!is_possible) return {};

  PersistentMlp<T> mlp;
  int widest_hidden = 0;
  const auto data = [&](ValueId id) { return id ? network.executor->data(id) : nullptr; };
  for (const Linear& layer : layers) {
    const Shape& weight = network.model[layer.weight].shape;
    if (std::max(weight[0], weight[1]) > std::numeric_limits<int>::max()) return {};
    mlp.layers[mlp.layer_count++] = {.in = static_cast<int>(weight[0]),
                                     .out = static_cast<int>(weight[1]),
                                     .weight = data(layer.weight),
                                     .bias = data(layer.bias),
                                     .activation = layer.activation};
    const bool is_hidden = layer.output != network.model.outputs;
    if (is_hidden) widest_hidden = std::max(widest_hidden, static_cast<int>(weight[1]));
  }
  if (network.model.threshold) {
    mlp.has_cut = true;
    mlp.cut = static_cast<T>(*network.model.threshold);
  }
  if (widest_hidden > 0) {
    const int wanted = (widest_hidden - 1) / persistent_warps + 1;
    mlp.blocks = 1 + std::min(wanted, std::max(cuda::multiprocessors() - 1, 1));
  }
  const auto capacity = cuda::shared_memory_per_block() / static_cast<int>(sizeof(T));
  if (!plan_shared_memory(mlp, capacity)) return {};
  return mlp;
}

template <typename T>
PersistentPrediction<T>::PersistentPrediction(const PersistentMlp<T>& mlp)
    : mlp_(mlp), features_({mlp.layers[0].in}), mail_(mlp_, stream_) {}

template <typename T>
PersistentPrediction<T>::~PersistentPrediction() {
  if (!is_running_) return;
  mail_.post_stop();
  cudaStreamSynchronize(stream_.get());  // if the kernel has failed, predict() has reported it
  --running();
}

template <typename T>
void PersistentPrediction<T>::predict(std::int32_t* classes) {
  request_ = request_after(request_);
  mail_.post(request_, features_.data());
  if (!is_running_) {
    mlp_.first_request = request_;
    mlp_.last_request = cuda::runs_on_cpu() ? request_ : no_request;
    launch_persistent_mlp(stream_.get(), mlp_);
    is_running_ = !cuda::runs_on_cpu();
    if (is_running_) ++running();
  }
  wait_for_answer();
  classes[0] = mail_.answer();
}

template <typename T>
void PersistentPrediction<T>::wait_for_answer() {
  constexpr int looks_between_questions = 10'000;  // asking CUDA takes longer than looking
  for (bool has_ended = false;;) {
    for (int i = 0; i < looks_between_questions; ++i) {
      if (mail_.is_answered(request_)) return;
    }
    if (has_ended) {
      throw Error("the kernel that answers one image after another has ended without an answer");
    }
    const cudaError_t status = cudaStreamQuery(stream_.get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();  // "not ready" only means that it runs
    } else {
      CUDA_CHECK(status);
      has_ended = true;
    }
  }
}

template <typename T>
std::unique_ptr<PersistentPrediction<T>> make_persistent_prediction(Network<T>& network) {
  if (running() > 0 || launches_wait()) return nullptr;
  const std::optional<PersistentMlp<T>> mlp = plan_persistent_mlp(network);
  return mlp ? std::make_unique<PersistentPrediction<T>>(*mlp) : nullptr;
}

template class PersistentPrediction<float>;
template class PersistentPrediction<double>;
template std::optional<PersistentMlp<float>> plan_persistent_mlp(Network<float>&);
template std::optional<PersistentMlp<double>> plan_persistent_mlp(Network<double>&);
template std::unique_ptr<PersistentPrediction<float>> make_persistent_prediction(Network<float>&);
template std::unique_ptr<PersistentPrediction<double>> make_persistent_prediction(Network<double>&);

}  // namespace stagewise::minibatch
