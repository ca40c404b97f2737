/// @file
/// How long a network takes to answer: one batch at a time, from the host's memory to the host's
/// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/report.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise {

/// What every stage can do: copy in, execute one line after another, copy out.
template <typename T>
class EagerPredictor final : public Predictor<T> {
 public:
  /// @param network loaded; must outlive this. Its largest batch is the one that is answered.
  explicit EagerPredictor(Network<T>& network);

  std::string name() const override { return "eager"; }
  Index rows() const override { return network_->executor->max_rows(); }
  T* features() override;
  void predict(std::int32_t* classes) override;

  /// The network's outputs for the batch that was answered last, [rows, outputs].
  std::vector<T> outputs();

  /// Where class 1 begins if one output names the class; else 0.
  T threshold() const { return static_cast<T>(network_->model.threshold.value_or(0)); }

 private:
  Network<T>* network_;
  Tensor<T> features_;  ///< empty where the host can write to the device's memory
};

/// The least of the values that at least this fraction of them do not exceed: 0.5 gives the median.
/// @param sorted ascending, at least one.
/// @param fraction more than 0, at most 1.
double percentile(const std::vector<double>& sorted, double fraction);

/// How long a batch takes, from samples in the host's memory to classes in the host's memory. Runs
/// over the data set's full batches, at least 200 times, after 20 more to warm up; but not for
/// longer than 10 seconds where 5 batches are done by then.
/// @throws Error if the data set holds no full batch.
template <typename T>
LatencyReport measure_latency(Predictor<T>& predictor, const Dataset& dataset);

/// Measures `eager`, then the others, and gives each back before the next begins. Before, the
/// others' classes for the first samples of the data set (100 batches, but not more than 10,000
/// samples or one batch) are compared with those of `eager`. Rounding may decide between two
/// classes whose outputs are closer than 1e-4 in float, or 1e-10 in double, of the largest output,
/// or of 1 where that is less: then either is right.
/// @param on_path called with the name of each before it is measured.
/// @throws Error naming the path, the sample and the classes if they differ; and as above.
template <typename T>
std::vector<LatencyReport> measure_latencies(
    std::unique_ptr<EagerPredictor<T>> eager, std::vector<std::unique_ptr<Predictor<T>>> others,
    const Dataset& dataset,
    const std::function<void(const std::string&)>& on_path = [](const std::string&) {});

}  // namespace stagewise
