#include "training/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::string inputs_up_to(double largest) { return "inputs up to " + rounded(largest); }

/// What other than the learning rate may be the cause: a clause up to "may be".
std::string causes(const Magnitudes& given) {
  return inputs_up_to(given.input) + ", parameters up to " + rounded(given.parameter) +
         " or an operation that computes wrong numbers may be";
}

}  // namespace

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

template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset, Ranks* ranks) {
  Ranks alone;
  if (ranks == nullptr) ranks = &alone;
  const std::vector<std::uint32_t> samples = dataset.all_samples();
  const Sums sums = ranks->sum({run_evaluation(network, {&dataset, samples}, 1), dataset.size()});
  if (sums.samples == 0) throw Error("there are no samples to evaluate");
  if (!std::isfinite(sums.totals.loss)) {
    const Magnitudes given = {ranks->largest(largest_input(dataset)), largest_parameter(copy_parameters_out(network))};
    throw NotFinite("the loss of the network on this data set is not finite; " + causes(given) + " the cause", true);
  }
  const auto count = static_cast<double>(sums.samples);
  return {.loss = sums.totals.loss / count,
          .accuracy = static_cast<double>(sums.totals.correct) / count,
          .correct = sums.totals.correct,
          .samples = sums.samples};
}

template Evaluation evaluate(Network<float>&, const Dataset&, Ranks*);
template Evaluation evaluate(Network<double>&, const Dataset&, Ranks*);
template Totals run_evaluation(Network<float>&, const Samples&, std::int64_t);
template Totals run_evaluation(Network<double>&, const Samples&, std::int64_t);

double largest_input(const Dataset& dataset) {
  if (dataset.labels().empty()) return 0;
  return dataset.values() == nullptr ? 1  // bytes, divided by 255
                                     : largest_of(*dataset.values());
}

double largest_parameter(const std::vector<ParameterValues>& parameters) {
  double largest = 0;
  for (const ParameterValues& parameter : parameters) {
    largest = std::max(largest, largest_of(parameter.values));
  }
  return largest;
}

NotFinite explained(const std::string& what, const Magnitudes& began, bool is_first, const Sgd& sgd) {
  const std::string stopped = what + ", and training stopped; ";
  if (is_first) {
    return {stopped + "that was before the first update, so the learning rate is not the cause, but " + causes(began),
            true};
  }
  // The update multiplies each weight by 1 - learning_rate l2.
  if (sgd.rule == Rule::sgd && sgd.learning_rate * sgd.l2 > 2) {
    return {stopped + "the learning rate " + rounded(sgd.learning_rate) + " times the l2 of " + rounded(sgd.l2) +
                " is " + rounded(sgd.learning_rate * sgd.l2) + ", and above 2 every step makes the weights larger",
            false};
  }
  constexpr double well_scaled = 1000;
  const std::string scaling = began.input > well_scaled ? inputs_up_to(began.input) + " should be scaled, or " : "";
  return {stopped + scaling + "a learning rate smaller than " + rounded(sgd.learning_rate) +
              " may help, unless an operation computes wrong numbers",
          true};
}

}  // namespace stagewise
