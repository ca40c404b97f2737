#include "training/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/step.hpp"

namespace stagewise {
namespace {

std::vector<std::uint32_t> all_samples(const Dataset& dataset) {
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(dataset.size()));
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

}  // namespace

template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset, Feeder<T>& feeder) {
  if (dataset.size() == 0) throw Error("there are no samples to evaluate");
  Backend<T>& backend = network.graph.backend();
  auto totals_on_device = backend.template allocate<Totals>({1});
  Totals totals;
  backend.copy_in(totals_on_device.data(), &totals, sizeof(totals));

  const std::vector<std::uint32_t> samples = all_samples(dataset);
  for (Index first = 0; first < dataset.size(); first += network.graph.max_rows()) {
    const Index rows = std::min(network.graph.max_rows(), dataset.size() - first);
    feeder.feed(std::span(samples).subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(rows)));
    network.graph.forward();
    backend.accumulate(rows, network.loss->value(), network.prediction->predictions(),
                       network.labels.data(), 1, totals_on_device.data());
  }
  backend.copy_out(&totals, totals_on_device.data(), sizeof(totals));
  if (!std::isfinite(totals.loss)) {
    throw Error(
        "the loss of the network on this data set is not finite; its parameters are of no use");
  }
  const auto count = static_cast<double>(dataset.size());
  return {.loss = totals.loss / count,
          .accuracy = static_cast<double>(totals.correct) / count,
          .correct = totals.correct,
          .samples = dataset.size()};
}

template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset) {
  PlainFeeder<T> feeder(network, dataset);
  return evaluate(network, dataset, feeder);
}

template <typename T>
LatencyReport measure_latency(Network<T>& network, const Dataset& dataset) {
  constexpr Index warm_up = 20;
  constexpr Index fewest = 200;
  constexpr double longest = 10;  // seconds; large batches on one core would take hours
  constexpr Index at_least = 5;
  const Index rows = network.graph.max_rows();
  const Index batches = dataset.size() / rows;
  if (batches == 0) {
    throw Error("a batch of " + with_thousands(rows) +
                " was asked for, but the data set has only " + count_of(dataset.size(), "sample"));
  }
  Backend<T>& backend = network.graph.backend();
  PlainFeeder<T> feeder(network, dataset);
  const std::vector<std::uint32_t> samples = all_samples(dataset);
  std::vector<std::int32_t> predictions(static_cast<std::size_t>(rows));

  std::vector<double> seconds;
  double warming = 0;
  double measured = 0;
  for (Index i = -warm_up; i < std::max(batches, fewest); ++i) {
    const Index first = (i + warm_up) % batches * rows;
    backend.synchronize();
    const auto start = std::chrono::steady_clock::now();
    feeder.feed(std::span(samples).subspan(static_cast<std::size_t>(first), predictions.size()));
    network.graph.forward();
    backend.copy_out(predictions.data(), network.prediction->predictions(),
                     predictions.size() * sizeof(std::int32_t));
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
  const auto quantile = [&](double fraction) {
    return seconds[static_cast<std::size_t>(fraction * static_cast<double>(seconds.size() - 1))];
  };
  return {.samples = static_cast<std::int64_t>(seconds.size()),
          .median_seconds = quantile(0.5),
          .p5_seconds = quantile(0.05),
          .p95_seconds = quantile(0.95)};
}

template Evaluation evaluate(Network<float>&, const Dataset&, Feeder<float>&);
template Evaluation evaluate(Network<double>&, const Dataset&, Feeder<double>&);
template Evaluation evaluate(Network<float>&, const Dataset&);
template Evaluation evaluate(Network<double>&, const Dataset&);
template LatencyReport measure_latency(Network<float>&, const Dataset&);
template LatencyReport measure_latency(Network<double>&, const Dataset&);

}  // namespace stagewise
