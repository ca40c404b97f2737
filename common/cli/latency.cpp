#include "cli/latency.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>

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
      throw Error("a batch of " + with_thousands(rows) + " was asked for, but the data set has only " +
                  count_of(dataset.size(), "sample"));
    }
    samples_.resize(static_cast<std::size_t>(dataset.size()));
    std::iota(samples_.begin(), samples_.end(), 0U);
    classes_.resize(static_cast<std::size_t>(rows));
  }

  Index count() const { return dataset_->size() / rows_; }

  /// Gives a batch to the predictor.
  void give(Predictor<T>& predictor, Index batch) const {
    const auto first = static_cast<std::size_t>(batch * rows_);
    predictor.take(*dataset_, std::span(samples_).subspan(first, classes_.size()));
  }

  /// Gives it a batch and lets it predict that.
  const std::vector<std::int32_t>& answer(Predictor<T>& predictor, Index batch) {
    give(predictor, batch);
    predictor.predict(classes_.data());
    return classes_;
  }

  /// Does the same, and returns the seconds that count: see Predictor::is_on_device().
  double time(Predictor<T>& predictor, Index batch) {
    const bool is_on_device = predictor.is_on_device();
    if (is_on_device) give(predictor, batch);
    const auto start = std::chrono::steady_clock::now();
    if (!is_on_device) give(predictor, batch);
    predictor.predict(is_on_device ? nullptr : classes_.data());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  const Dataset* dataset_;
  Index rows_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::int32_t> classes_;
};

/// How many batches are compared.
Index compared_batches(Index all, Index rows) { return std::min(all, std::clamp<Index>(10'000 / rows, 1, 100)); }

/// Whether an output is as large as another, except for rounding.
template <typename T>
bool nearly_equal(double a, double b, double largest) {
  const double bound = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  return std::abs(a - b) <= bound * std::max(1.0, largest);
}

/// The predictions of the eager path, and how certain the network is.
template <typename T>
class Reference {
 public:
  Reference(EagerPredictor<T>& eager, const Dataset& dataset) : threshold_(eager.threshold()) {
    Batches<T> batches(dataset, eager.rows());
    for (Index i = 0; i < compared_batches(batches.count(), eager.rows()); ++i) {
      const std::vector<std::int32_t>& classes = batches.answer(eager, i);
      classes_.insert(classes_.end(), classes.begin(), classes.end());
      const std::vector<T> outputs = eager.outputs();
      outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
    }
    width_ = outputs_.size() / classes_.size();
  }

  std::int32_t class_of(std::size_t sample) const { return classes_[sample]; }

  /// Whether a prediction agrees, except for rounding.
  bool agrees(std::size_t sample, std::int32_t other) const {
    if (other == class_of(sample)) return true;
    if (other < 0 || other >= std::max<std::int32_t>(static_cast<std::int32_t>(width_), 2)) {
      return false;
    }
    const std::span outputs = std::span(outputs_).subspan(sample * width_, width_);
    double largest = 0;
    for (const T output : outputs) largest = std::max(largest, std::abs(double{output}));
    if (width_ == 1) return nearly_equal<T>(outputs[0], threshold_, largest);
    return nearly_equal<T>(outputs[static_cast<std::size_t>(other)],
                           outputs[static_cast<std::size_t>(class_of(sample))], largest);
  }

 private:
  std::vector<std::int32_t> classes_;
  std::vector<T> outputs_;
  std::size_t width_ = 0;
  T threshold_;
};

template <typename T>
void compare(Predictor<T>& predictor, const Reference<T>& reference, const Dataset& dataset) {
  Batches<T> batches(dataset, predictor.rows());
  std::size_t sample = 0;
  for (Index i = 0; i < compared_batches(batches.count(), predictor.rows()); ++i) {
    for (const std::int32_t found : batches.answer(predictor, i)) {
      if (!reference.agrees(sample, found)) {
        throw Error("the latency of the path " + predictor.name() +
                    " is not measured, since its answers are wrong: sample " + std::to_string(sample) +
                    " of the data set is of class " + std::to_string(found) + " there, but of class " +
                    std::to_string(reference.class_of(sample)) + " on the path eager");
      }
      ++sample;
    }
  }
}

}  // namespace

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
    const double counted = batches.time(predictor, (i + warm_up) % batches.count());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i < 0) {
      warming += elapsed.count();
      if (warming > longest / 10) i = -1;
    } else {
      measured += elapsed.count();
      seconds.push_back(counted);
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
std::vector<LatencyReport> measure_latencies(std::unique_ptr<EagerPredictor<T>> eager,
                                             std::vector<std::unique_ptr<Predictor<T>>> others, const Dataset& dataset,
                                             const std::function<void(const std::string&)>& on_path) {
  on_path(eager->name());
  const Reference<T> reference(*eager, dataset);
  std::vector<LatencyReport> reports = {measure_latency(*eager, dataset)};
  eager.reset();  // so that its device memory does not slow down the others
  for (std::unique_ptr<Predictor<T>>& predictor : others) {
    on_path(predictor->name());
    compare(*predictor, reference, dataset);
    reports.push_back(measure_latency(*predictor, dataset));
    predictor.reset();
  }
  return reports;
}

template LatencyReport measure_latency(Predictor<float>&, const Dataset&);
template LatencyReport measure_latency(Predictor<double>&, const Dataset&);
template std::vector<LatencyReport> measure_latencies(std::unique_ptr<EagerPredictor<float>>,
                                                      std::vector<std::unique_ptr<Predictor<float>>>, const Dataset&,
                                                      const std::function<void(const std::string&)>&);
template std::vector<LatencyReport> measure_latencies(std::unique_ptr<EagerPredictor<double>>,
                                                      std::vector<std::unique_ptr<Predictor<double>>>, const Dataset&,
                                                      const std::function<void(const std::string&)>&);

}  // namespace stagewise
