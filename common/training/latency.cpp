#include "training/latency.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <span>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// The data set's full batches, as a predictor takes them.
template <typename T>
class Batches {
 public:
  Batches(const Dataset& dataset, Index rows) : dataset_(&dataset), rows_(rows) {
    if (count() == 0) {
      throw Error("a batch of " + with_thousands(rows) +
                  " was asked for, but the data set has only " +
                  count_of(dataset.size(), "sample"));
    }
    samples_.resize(static_cast<std::size_t>(dataset.size()));
    std::iota(samples_.begin(), samples_.end(), 0U);
    classes_.resize(static_cast<std::size_t>(rows));
  }

  Index count() const { return dataset_->size() / rows_; }

  /// Brings a batch to the predictor and has it answered.
  const std::vector<std::int32_t>& answer(Predictor<T>& predictor, Index batch) {
    const auto first = static_cast<std::size_t>(batch * rows_);
    dataset_->gather(std::span(samples_).subspan(first, classes_.size()), predictor.features());
    predictor.predict(classes_.data());
    return classes_;
  }

 private:
  const Dataset* dataset_;
  Index rows_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::int32_t> classes_;
};

template <typename T>
std::vector<std::int32_t> first_classes(Predictor<T>& predictor, const Dataset& dataset) {
  Batches<T> batches(dataset, predictor.rows());
  const Index enough = std::clamp<Index>(10'000 / predictor.rows(), 1, 100);
  std::vector<std::int32_t> all;
  for (Index batch = 0; batch < std::min(batches.count(), enough); ++batch) {
    const std::vector<std::int32_t>& classes = batches.answer(predictor, batch);
    all.insert(all.end(), classes.begin(), classes.end());
  }
  return all;
}

template <typename T>
void expect_classes(Predictor<T>& predictor, const Dataset& dataset,
                    const std::vector<std::int32_t>& expected, const std::string& reference) {
  const std::vector<std::int32_t> classes = first_classes(predictor, dataset);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] == expected[i]) continue;
    throw Error("the latency of the path " + predictor.name() +
                " is not measured, since its answers are wrong: sample " + std::to_string(i) +
                " of the data set is of class " + std::to_string(classes[i]) +
                " there, but of class " + std::to_string(expected[i]) + " on the path " +
                reference);
  }
}

}  // namespace

template <typename T>
void forward_to_prediction(Network<T>& network) {
  Graph<T>& graph = network.graph;
  graph.forward_before(graph.number_of(*network.loss), false);
  network.prediction->forward(graph.backend(), graph.rows());
}

template <typename T>
EagerPredictor<T>::EagerPredictor(Network<T>& network) : network_(&network) {
  Backend<T>& backend = network.graph.backend();
  network.input->use_own();
  if (backend.host_accessible()) return;
  features_ = Tensor<T>(network.input->value_shape(rows()), backend.staging_memory());
}

template <typename T>
T* EagerPredictor<T>::features() {
  return features_.data() != nullptr ? features_.data() : network_->input->value();
}

template <typename T>
void EagerPredictor<T>::predict(std::int32_t* classes) {
  Graph<T>& graph = network_->graph;
  Backend<T>& backend = graph.backend();
  graph.set_rows(rows());
  //! [eager]
  if (features_.data() != nullptr) {
    backend.copy_in(network_->input->value(), features_.data(),
                    static_cast<std::size_t>(features_.elements()) * sizeof(T));
  }
  forward_to_prediction(*network_);
  backend.copy_out(classes, network_->prediction->predictions(),
                   static_cast<std::size_t>(rows()) * sizeof(std::int32_t));
  //! [eager]
}

double percentile(const std::vector<double>& sorted, double fraction) {
  const auto count = static_cast<double>(sorted.size());
  const double rank = std::clamp(std::ceil(fraction * count), 1.0, count);
  return sorted[static_cast<std::size_t>(rank) - 1];
}

template <typename T>
LatencyReport measure_latency(Predictor<T>& predictor, const Dataset& dataset) {
  constexpr Index warm_up = 20;
  constexpr Index fewest = 200;
  constexpr double longest = 10;  // seconds; large batches on one core would take hours
  constexpr Index at_least = 5;
  Batches<T> batches(dataset, predictor.rows());

  std::vector<double> seconds;
  double warming = 0;
  double measured = 0;
  for (Index i = -warm_up; i < std::max(batches.count(), fewest); ++i) {
    const auto start = std::chrono::steady_clock::now();
    batches.answer(predictor, (i + warm_up) % batches.count());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i < 0) {
      warming += elapsed.count();
      if (warming > longest / 10) i = -1;
    } else {
      measured += elapsed.count();
      seconds.push_back(elapsed.count());
      if (measured > longest && std::ssize(seconds) >= at_least) break;
    }
  }
  std::sort(seconds.begin(), seconds.end());
  return {.path = predictor.name(),
          .samples = std::ssize(seconds),
          .median_seconds = percentile(seconds, 0.5),
          .p95_seconds = percentile(seconds, 0.95),
          .p99_seconds = percentile(seconds, 0.99)};
}

template <typename T>
std::vector<LatencyReport> measure_latencies(std::vector<std::unique_ptr<Predictor<T>>> predictors,
                                             const Dataset& dataset) {
  std::vector<std::int32_t> expected;
  if (predictors.size() > 1) expected = first_classes(*predictors.front(), dataset);
  const std::string reference = predictors.empty() ? "" : predictors.front()->name();

  std::vector<LatencyReport> reports;
  for (std::unique_ptr<Predictor<T>>& predictor : predictors) {
    if (!reports.empty()) expect_classes(*predictor, dataset, expected, reference);
    reports.push_back(measure_latency(*predictor, dataset));
    predictor.reset();  // what it holds on the device is not to slow down the others
  }
  return reports;
}

template void forward_to_prediction(Network<float>&);
template void forward_to_prediction(Network<double>&);
template class EagerPredictor<float>;
template class EagerPredictor<double>;
template LatencyReport measure_latency(Predictor<float>&, const Dataset&);
template LatencyReport measure_latency(Predictor<double>&, const Dataset&);
template std::vector<LatencyReport> measure_latencies(
    std::vector<std::unique_ptr<Predictor<float>>>, const Dataset&);
template std::vector<LatencyReport> measure_latencies(
    std::vector<std::unique_ptr<Predictor<double>>>, const Dataset&);

}  // namespace stagewise
