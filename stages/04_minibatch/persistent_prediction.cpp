#include "04_minibatch/persistent_prediction.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch {
namespace {

/// The network's layers, first to last; none unless it consists of these, a loss and a prediction.
template <typename T>
std::vector<Linear<T>*> layers_of(Network<T>& network) {
  std::vector<Linear<T>*> layers;
  for (const auto& node : network.graph.nodes()) {
    auto* const layer = dynamic_cast<Linear<T>*>(node.get());
    if (layer != nullptr) {
      if (!layers.empty() && layer->inputs()[0] != layers.back()) return {};
      layers.push_back(layer);
    } else if (node->computes() && node.get() != network.loss && node.get() != network.prediction) {
      return {};
    }
  }
  return layers;
}

/// Decides which weights each block keeps: layer by layer, as far as they fit.
/// @return whether what cannot do without shared memory fits.
template <typename T>
bool plan_shared_memory(ResidentMlp<T>& mlp, std::int64_t capacity) {
  const int last = mlp.layer_count - 1;
  std::int64_t widest = 0;
  for (int l = 0; l <= last; ++l) widest = std::max<std::int64_t>(widest, mlp.layers[l].in);
  const std::int64_t begin = widest + mlp.layers[last].out;  // an input, and the last outputs
  if (begin > capacity) return false;

  const auto keep = [&](ResidentLayer<T>& layer, int workers, std::int64_t at) {
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

template <typename T>
std::optional<ResidentMlp<T>> describe(Network<T>& network) {
  const std::vector<Linear<T>*> layers = layers_of(network);
  const bool is_possible =
      network.graph.max_rows() == 1 && !layers.empty() && layers.size() <= max_resident_layers;
  if (!is_possible) return {};

  ResidentMlp<T> mlp;
  int widest_hidden = 0;
  for (Linear<T>* const layer : layers) {
    const LinearProblem<T> problem = layer->problem(1);
    if (std::max(problem.in, problem.out) > std::numeric_limits<int>::max()) return {};
    mlp.layers[mlp.layer_count++] = {.in = static_cast<int>(problem.in),
                                     .out = static_cast<int>(problem.out),
                                     .weight = problem.weight,
                                     .bias = problem.bias,
                                     .activation = problem.activation};
    if (layer != layers.back())
      widest_hidden = std::max(widest_hidden, static_cast<int>(problem.out));
  }
  if (const auto* const threshold = dynamic_cast<Threshold<T>*>(network.prediction)) {
    mlp.has_cut = true;
    mlp.cut = threshold->cut();
  }
  if (widest_hidden > 0) {
    const int wanted = (widest_hidden - 1) / resident_warps + 1;
    mlp.blocks = 1 + std::min(wanted, std::max(cuda::multiprocessors() - 1, 1));
  }
  const auto capacity = cuda::shared_memory_per_block() / static_cast<int>(sizeof(T));
  if (!plan_shared_memory(mlp, capacity)) return {};
  return mlp;
}

/// Messages that hidden layers' blocks send: the image, and each hidden layer's output.
template <typename T>
Index words_between_blocks(const ResidentMlp<T>& mlp) {
  Index words = 0;
  for (int l = 0; l < mlp.layer_count; ++l) words += Index{mlp.layers[l].in} * words_of<T>;
  return mlp.layer_count > 1 ? words : 0;
}

}  // namespace

template <typename T>
PersistentPrediction<T>::PersistentPrediction(const ResidentMlp<T>& mlp)
    : mlp_(mlp),
      features_({mlp.layers[0].in}),
      mailbox_({Index{mlp.layers[0].in} * words_of<T>}, cuda::pinned_memory()),
      answer_({1}, cuda::pinned_memory()),
      words_({words_between_blocks(mlp)}, cuda::device_memory()) {
  mlp_.mailbox = mailbox_.data();
  mlp_.answer = answer_.data();
  Word* arrivals = words_.data();
  for (int l = 0; l < mlp_.layer_count; ++l) {
    mlp_.layers[l].input = mlp_.layer_count > 1 ? arrivals : mlp_.mailbox;
    arrivals += Index{mlp_.layers[l].in} * words_of<T>;
  }
  // What lies there from earlier must not look like an answer.
  std::fill_n(mailbox_.data(), mailbox_.elements(), make_word(no_request, 0));
  std::fill_n(answer_.data(), 1, make_word(no_request, 0));
  CUDA_CHECK(cudaMemsetAsync(
      words_.data(), 0, static_cast<std::size_t>(words_.elements()) * sizeof(Word), stream_.get()));
}

template <typename T>
PersistentPrediction<T>::~PersistentPrediction() {
  if (!is_running_) return;
  for (Index i = 0; i < mailbox_.elements(); ++i) {
    std::atomic_ref(mailbox_.data()[i])
        .store(make_word(stop_request, 0), std::memory_order_relaxed);
  }
  cudaStreamSynchronize(stream_.get());  // if the kernel has failed, predict() has said so
}

template <typename T>
void PersistentPrediction<T>::predict(std::int32_t* classes) {
  request_ = request_after(request_);
  //! [post]
  Word* word = mailbox_.data();
  for (Index i = 0; i < features_.elements(); ++i) {
    for (const Word each : make_message(request_, features_.data()[i]).words) {
      std::atomic_ref(*word++).store(each, std::memory_order_relaxed);
    }
  }
  //! [post]
  launch_if_needed();
  classes[0] = wait_for_answer();
}

template <typename T>
void PersistentPrediction<T>::launch_if_needed() {
  if (is_running_) return;
  mlp_.first_request = request_;
  mlp_.last_request = cuda::runs_on_cpu() ? request_ : no_request;
  launch_resident_mlp(stream_.get(), mlp_);
  is_running_ = !cuda::runs_on_cpu();
}

template <typename T>
std::int32_t PersistentPrediction<T>::wait_for_answer() {
  const std::atomic_ref answer(*answer_.data());
  const auto is_there = [&] {
    return number_of(answer.load(std::memory_order_relaxed)) == request_;
  };
  constexpr int looks_between_questions = 10'000;  // to ask CUDA takes longer than to look
  for (cudaError_t status = cudaErrorNotReady; !is_there();) {
    for (int i = 0; i < looks_between_questions && !is_there(); ++i) continue;
    if (is_there()) break;
    if (status == cudaSuccess) {
      throw Error("the kernel that answers one image after another has ended without an answer");
    }
    status = cudaStreamQuery(stream_.get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();  // which is none: the kernel runs
    } else {
      CUDA_CHECK(status);
    }
  }
  return static_cast<std::int32_t>(data_of(answer.load(std::memory_order_relaxed)));
}

template <typename T>
std::unique_ptr<PersistentPrediction<T>> make_persistent_prediction(Network<T>& network) {
  const std::optional<ResidentMlp<T>> mlp = describe(network);
  return mlp ? std::make_unique<PersistentPrediction<T>>(*mlp) : nullptr;
}

template class PersistentPrediction<float>;
template class PersistentPrediction<double>;
template std::unique_ptr<PersistentPrediction<float>> make_persistent_prediction(Network<float>&);
template std::unique_ptr<PersistentPrediction<double>> make_persistent_prediction(Network<double>&);

}  // namespace stagewise::minibatch
