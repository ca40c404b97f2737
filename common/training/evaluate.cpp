#include "training/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/error.hpp"
#include "training/not_finite.hpp"
#include "training/parameters.hpp"
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
Evaluation evaluate(Network<T>& network, const Dataset& dataset, Feeder<T>& feeder, Ranks& ranks) {
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
  const Sums sums = ranks.sum({totals, dataset.size()});
  if (sums.samples == 0) throw Error("there are no samples to evaluate");
  if (!std::isfinite(sums.totals.loss)) {
    const Bounds bounds(network, ranks.largest(largest_input<T>(dataset)),
                        copy_parameters_out(network.graph));
    throw explained_evaluation<T>("the loss of the network on this data set is not finite", bounds,
                                  network.graph.max_rows());
  }
  const auto count = static_cast<double>(sums.samples);
  return {.loss = sums.totals.loss / count,
          .accuracy = static_cast<double>(sums.totals.correct) / count,
          .correct = sums.totals.correct,
          .samples = sums.samples};
}

template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset) {
  PlainFeeder<T> feeder(network, dataset);
  Ranks alone;
  return evaluate(network, dataset, feeder, alone);
}

template Evaluation evaluate(Network<float>&, const Dataset&, Feeder<float>&, Ranks&);
template Evaluation evaluate(Network<double>&, const Dataset&, Feeder<double>&, Ranks&);
template Evaluation evaluate(Network<float>&, const Dataset&);
template Evaluation evaluate(Network<double>&, const Dataset&);

}  // namespace stagewise
