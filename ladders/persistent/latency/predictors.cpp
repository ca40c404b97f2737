#include "ladders/persistent/latency/predictors.hpp"

#include <algorithm>
#include <optional>

#include "04_minibatch/data/host_data.hpp"
#include "04_minibatch/recorded_prediction.hpp"
#include "cuda/memory.hpp"
#include "ladders/persistent/latency/persistent_prediction.hpp"

namespace stagewise::minibatch {
namespace {

/// Where the network's batch is when nobody has bound it to other memory.
template <typename T>
T* own_batch(Network<T>& network) {
  network.executor->bind(network.model.batch, nullptr);
  return network.executor->data(network.model.batch);
}

/// What the device alone takes for a batch: a recorded forward pass without its copies. The samples
/// are there, and the classes stay there.
template <typename T>
class ResidentPrediction final : public Predictor<T> {
 public:
  /// @param network,stream see RecordedPrediction.
  ResidentPrediction(Network<T>& network, const cuda::Stream& stream)
      : network_(&network),
        stream_(&stream),
        batch_(own_batch(network)),
        features_(network.model[network.model.batch].shape.batched(network.executor->max_rows()),
                  cuda::pinned_memory()),
        graph_(stream, [&] { network.executor->execute(network.prediction, {.rows = rows()}); }) {}

  std::string name() const override { return "device"; }
  Index rows() const override { return features_.shape()[0]; }
  T* features() override { return features_.data(); }
  bool is_on_device() const override { return true; }

  void take(const Dataset& dataset, std::span<const std::uint32_t> samples) override {
    dataset.gather(samples, features_.data());
    network_->executor->copy_in(batch_, features_.data(), static_cast<std::size_t>(features_.elements()) * sizeof(T));
  }

  void predict(std::int32_t* classes) override {
    graph_.launch(*stream_);
    stream_->synchronize();
    if (classes == nullptr) return;
    network_->executor->copy_out(classes, network_->executor->template data<std::int32_t>(network_->model.classes),
                                 static_cast<std::size_t>(rows()) * sizeof(std::int32_t));
  }

 private:
  Network<T>* network_;
  const cuda::Stream* stream_;
  T* batch_;  ///< on the device
  Tensor<T> features_;
  cuda::ExecutableGraph graph_;
};

/// In how many rows a batch of `rows` is answered at a time. With more parts, the first would
/// arrive sooner, but a small part does not fill a GPU.
Index rows_of_part(Index rows) {
  constexpr Index most_parts = 4;
  constexpr Index least_rows = 1024;
  const Index parts = std::clamp<Index>(rows / least_rows, 1, most_parts);
  return (rows + parts - 1) / parts;
}

/// Answers a large batch in parts: while one is computed, the next arrives.
///
/// The samples lie in pinned memory as the data set has them, images as bytes. As in training with
/// `--stream-batches`, kernels fetch them from there: see HostData. All parts are recorded in one
/// graph.
template <typename T>
class StreamedPrediction final : public Predictor<T> {
 public:
  /// @param network,stream see RecordedPrediction.
  StreamedPrediction(Network<T>& network, const cuda::Stream& stream)
      : network_(&network),
        stream_(&stream),
        samples_({network.executor->max_rows()}, cuda::pinned_memory()),
        classes_({network.executor->max_rows()}, cuda::pinned_memory()) {}

  ~StreamedPrediction() override {
    network_->executor->bind(network_->model.batch, nullptr);
    network_->executor->bind(network_->model.classes, nullptr);
  }
  StreamedPrediction(const StreamedPrediction&) = delete;
  StreamedPrediction& operator=(const StreamedPrediction&) = delete;

  std::string name() const override { return "streamed"; }
  Index rows() const override { return classes_.elements(); }
  T* features() override { return nullptr; }

  void take(const Dataset& dataset, std::span<const std::uint32_t> samples) override {
    if (dataset_ != &dataset) load(dataset);
    std::ranges::copy(samples, samples_.data());
  }

  void predict(std::int32_t* classes) override {
    graph_->launch(*stream_);
    stream_->synchronize();
    std::copy_n(classes_.data(), rows(), classes);
  }

 private:
  void load(const Dataset& dataset) {
    graph_.reset();
    const Index rows_of_each = rows_of_part(rows());
    data_ = std::make_unique<HostData<T>>(dataset, dataset.all_samples(), rows_of_each, *stream_);
    dataset_ = &dataset;
    graph_.emplace(*stream_, [&] {
      const Index parts = rows() / rows_of_each;
      const Index rest = rows() % rows_of_each;
      enqueue_parts(0, rows_of_each, parts);
      if (rest > 0) enqueue_parts(parts * rows_of_each, rest, 1);
    });
  }

  //! [parts]
  /// The device reads the samples' numbers in the host's memory, and writes classes there.
  void enqueue_parts(Index first, Index rows, Index parts) {
    Executor<T>& executor = *network_->executor;
    const auto compute = [&](Index part, const auto& batch) {
      executor.bind(network_->model.batch, batch.features);
      executor.bind(network_->model.classes, classes_.data() + first + part * rows);
      executor.execute(network_->prediction, {.rows = rows});
    };
    const std::uint32_t* const samples = samples_.data() + first;
    if (parts == 1) return compute(0, data_->fetch_in_order(samples, rows));
    data_->for_each_batch(samples, rows, parts, compute);
  }
  //! [parts]

  Network<T>* network_;
  const cuda::Stream* stream_;
  const Dataset* dataset_ = nullptr;  ///< which has been loaded
  std::unique_ptr<HostData<T>> data_;
  Tensor<std::uint32_t> samples_;  ///< in pinned memory
  Tensor<std::int32_t> classes_;   ///< in pinned memory
  std::optional<cuda::ExecutableGraph> graph_;
};

}  // namespace

template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_all_predictors(Network<T>& network) {
  std::vector<std::unique_ptr<Predictor<T>>> predictors = make_predictors(network);
  const cuda::Stream& stream = static_cast<MinibatchExecutor<T>&>(*network.executor).main_stream();
  predictors.push_back(std::make_unique<StreamedPrediction<T>>(network, stream));
  predictors.push_back(std::make_unique<ResidentPrediction<T>>(network, stream));
  // Last: while its kernel runs, nothing must wait for the whole GPU.
  if (auto persistent = make_persistent_prediction(network)) {
    predictors.push_back(std::move(persistent));
  }
  return predictors;
}

template std::vector<std::unique_ptr<Predictor<float>>> make_all_predictors(Network<float>&);
template std::vector<std::unique_ptr<Predictor<double>>> make_all_predictors(Network<double>&);

}  // namespace stagewise::minibatch
