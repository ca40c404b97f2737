#include "training/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/error.hpp"
#include "training/not_finite.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// Runs the evaluation over all samples, batch by batch.
template <typename T>
Totals run_evaluation(Network<T>& network, const Samples& samples, std::int64_t step) {
  Executor<T>& executor = *network.executor;
  const bool measures = executor.measures();
  executor.enable_timings(false);
  reset_totals(executor, {network.model.totals});
  executor.read_from(*samples.dataset, samples.order);
  const Index count = std::ssize(samples.order);
  for (Index first = 0; first < count; first += executor.max_rows()) {
    const Index rows = std::min(executor.max_rows(), count - first);
    executor.execute(network.evaluation, {.first = first, .rows = rows, .step = step});
  }
  executor.enable_timings(measures);
  return totals_of(executor, {network.model.totals});
}

}  // namespace

template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset, Ranks* ranks) {
  Ranks alone;
  if (ranks == nullptr) ranks = &alone;
  const std::vector<std::uint32_t> samples = dataset.all_samples();
  const Sums sums = ranks->sum({run_evaluation(network, {&dataset, samples}, 1), dataset.size()});
  if (sums.samples == 0) throw Error("there are no samples to evaluate");
  if (!std::isfinite(sums.totals.loss)) {
    throw explained_evaluation(
        "the loss of the network on this data set is not finite",
        {ranks->largest(largest_input(dataset)), largest_parameter(copy_parameters_out(network))});
  }
  const auto count = static_cast<double>(sums.samples);
  return {.loss = sums.totals.loss / count,
          .accuracy = static_cast<double>(sums.totals.correct) / count,
          .correct = sums.totals.correct,
          .samples = sums.samples};
}

template <typename T>
Totals evaluate_batch(Network<T>& network, const Samples& samples, std::int64_t step) {
  return run_evaluation(network, samples, step);
}

template Evaluation evaluate(Network<float>&, const Dataset&, Ranks*);
template Evaluation evaluate(Network<double>&, const Dataset&, Ranks*);
template Totals evaluate_batch(Network<float>&, const Samples&, std::int64_t);
template Totals evaluate_batch(Network<double>&, const Samples&, std::int64_t);

}  // namespace stagewise
