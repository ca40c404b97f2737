#include "training/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>

#include "tensor/error.hpp"
#include "tensor/random.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// Throws if a step of this epoch had a loss that is not a number one can descend on.
void check_loss(const Totals& totals, std::int64_t epoch, const TrainingOptions& options,
                const Step& step) {
  if (totals.first_bad_step < 0) return;
  std::ostringstream text;
  text << "the loss became " << (std::isnan(totals.loss) ? "NaN" : "infinite") << " in epoch "
       << epoch << ", step " << totals.first_bad_step << step.place_of_bad_step()
       << ", and training stopped; a learning rate smaller than " << options.sgd.learning_rate
       << " may help";
  throw Error(text.str());
}

/// The totals of the batch that the network holds, with the parameters as they are now.
template <typename T>
Totals totals_of_current_batch(Network<T>& network, std::int64_t step) {
  Backend<T>& backend = network.graph.backend();
  auto on_device = backend.template allocate<Totals>({1});
  Totals totals;
  backend.copy_in(on_device.data(), &totals, sizeof(totals));
  network.graph.forward(false);
  backend.accumulate(network.graph.rows(), network.loss->value(), network.prediction->predictions(),
                     network.labels.data(), step, on_device.data());
  backend.copy_out(&totals, on_device.data(), sizeof(totals));
  return totals;
}

}  // namespace

void order_of_epoch(Index count, std::uint64_t seed, std::int64_t epoch, bool shuffle,
                    std::vector<std::uint32_t>& order) {
  order.resize(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  if (!shuffle) return;
  Random random(seed, Purpose::shuffle, static_cast<std::uint64_t>(epoch));
  stagewise::shuffle(order, random);
}

template <typename T>
void train(Network<T>& network, Step& step, const Dataset& training_set, const Dataset& validation,
           const TrainingOptions& options, std::int64_t first_epoch, TrainingObserver& observer,
           Feeder<T>* validation_feeder, Ranks* ranks) {
  const Index count = training_set.size();
  const Index steps_per_epoch = (count + options.batch_size - 1) / options.batch_size;
  const bool reading_is_free = network.graph.backend().host_accessible();

  Ranks alone;
  if (ranks == nullptr) ranks = &alone;
  const bool validates = ranks->sum({.samples = validation.size()}).samples > 0;
  std::unique_ptr<Feeder<T>> own_feeder;
  if (validation_feeder == nullptr && validates) {
    own_feeder = std::make_unique<PlainFeeder<T>>(network, validation);
    validation_feeder = own_feeder.get();
  }

  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> next_order;
  for (std::int64_t epoch = first_epoch; epoch <= options.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    if (epoch == first_epoch) order_of_epoch(count, options.seed, epoch, options.shuffle, order);
    step.begin_epoch(order);
    for (Index first = 0; first < count; first += options.batch_size) {
      const Index rows = std::min(options.batch_size, count - first);
      step.run(first, rows);
      if (reading_is_free) check_loss(step.totals(), epoch, options, step);
      observer.on_step(epoch, step.samples_done(first + rows));
    }
    // The device may still be busy for a while.
    if (epoch < options.epochs) {
      order_of_epoch(count, options.seed, epoch + 1, options.shuffle, next_order);
    }
    while (!step.is_done()) observer.on_step(epoch, step.samples_done(count));
    const Totals totals = step.totals();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    check_loss(totals, epoch, options, step);
    step.end_epoch();

    // The last update of the epoch is in no loss yet: look at its result itself.
    const std::vector<ParameterValues> parameters = copy_parameters_out(network.graph);
    if (const ParameterValues* bad = find_non_finite(parameters)) {
      throw Error("the parameter '" + bad->name + "' became NaN or infinite in epoch " +
                  std::to_string(epoch) + ", step " + std::to_string(steps_per_epoch) +
                  ", and training stopped there");
    }

    // Each rank has a part of that batch: all are to know, before anybody reports the epoch.
    const Sums last = ranks->sum({.totals = totals_of_current_batch(network, steps_per_epoch)});
    check_loss(last.totals, epoch, options, step);

    EpochReport report;
    report.epoch = epoch;
    report.train_loss = totals.loss / static_cast<double>(count) +
                        options.sgd.l2 / 2 * squared_norm_of_weights(parameters);
    if (!std::isfinite(report.train_loss)) {
      throw Error("the loss became infinite at the end of epoch " + std::to_string(epoch) +
                  ", step " + std::to_string(steps_per_epoch) +
                  ", with the share of l2 added, and training stopped there");
    }
    report.train_accuracy = static_cast<double>(totals.correct) / static_cast<double>(count);
    report.seconds = elapsed.count();
    report.images_per_second = static_cast<double>(count) / elapsed.count();
    if (validates) {
      const Evaluation evaluation = evaluate(network, validation, *validation_feeder, *ranks);
      report.validation_loss = evaluation.loss;
      report.validation_accuracy = evaluation.accuracy;
    }
    observer.on_epoch(report, epoch * steps_per_epoch, parameters);
    order.swap(next_order);
  }
}

template void train(Network<float>&, Step&, const Dataset&, const Dataset&, const TrainingOptions&,
                    std::int64_t, TrainingObserver&, Feeder<float>*, Ranks*);
template void train(Network<double>&, Step&, const Dataset&, const Dataset&, const TrainingOptions&,
                    std::int64_t, TrainingObserver&, Feeder<double>*, Ranks*);

}  // namespace stagewise
