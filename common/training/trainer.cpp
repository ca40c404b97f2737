#include "training/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "tensor/quote.hpp"
#include "tensor/random.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// " in epoch 1, step 2".
std::string in_step(std::int64_t epoch, std::int64_t step) {
  return " in epoch " + std::to_string(epoch) + ", step " + std::to_string(step);
}

/// Watches over a training's numbers.
class Watch {
 public:
  /// @param began the magnitudes that training begins with.
  Watch(const Magnitudes& began, std::int64_t first_epoch, const Sgd& sgd)
      : began_(began), first_epoch_(first_epoch), sgd_(sgd) {}

  /// @throws NotFinite if a step of this epoch had a loss that is not a number one can descend on.
  /// @param updates of the parameters in this epoch until the loss was computed; by default, that
  ///        was before the step's own.
  void check_loss(const Totals& totals, std::int64_t epoch, const Step& step,
                  std::optional<std::int64_t> updates = std::nullopt) const {
    if (totals.first_bad_step < 0) return;
    throw failure("the loss became " + std::string(std::isnan(totals.loss) ? "NaN" : "infinite") +
                      in_step(epoch, totals.first_bad_step) + step.place_of_bad_step(),
                  epoch == first_epoch_ && updates.value_or(totals.first_bad_step - 1) == 0);
  }

  /// @param updates of the parameters in this epoch, after which they are looked at.
  /// @throws NotFinite naming the first parameter that is NaN or infinite.
  void check_parameters(const std::vector<ParameterValues>& parameters, std::int64_t epoch,
                        std::int64_t updates) const {
    const ParameterValues* const bad = find_non_finite(parameters);
    if (bad == nullptr) return;
    throw failure("the parameter " + in_quotes(bad->name) + " became NaN or infinite" + in_step(epoch, updates));
  }

  /// The error to throw.
  /// @param is_first whether this was before the first update.
  NotFinite failure(const std::string& what, bool is_first = false) const {
    return explained(what, began_, is_first, sgd_);
  }

 private:
  Magnitudes began_;
  std::int64_t first_epoch_;
  Sgd sgd_;
};

/// What the steps of an epoch have come to; of the loss, that of the data.
EpochReport report_of(std::int64_t epoch, const Totals& totals, Index samples, double seconds) {
  const auto count = static_cast<double>(samples);
  return {.epoch = epoch,
          .train_loss = totals.loss / count,
          .train_accuracy = static_cast<double>(totals.correct) / count,
          .seconds = seconds,
          .images_per_second = count / seconds};
}

/// Reports what the steps of an epoch have come to since the last report.
class StepLog {
 public:
  StepLog(const TrainingOptions& options, std::int64_t steps_per_epoch, TrainingObserver& observer)
      : options_(&options), steps_per_epoch_(steps_per_epoch), observer_(&observer) {}

  void begin_epoch() {
    last_ = {};
    start_ = Clock::now();
  }

  /// Whether a report is due after this step of an epoch, counted from 1.
  bool is_due(std::int64_t step) const {
    return options_->log_every > 0 && (step % options_->log_every == 0 || step == steps_per_epoch_);
  }

  /// @param sums of the epoch so far.
  void report(std::int64_t epoch, std::int64_t step, const Sums& sums) {
    const Clock::time_point now = Clock::now();
    const auto count = static_cast<double>(sums.samples - last_.samples);
    const auto correct = static_cast<double>(sums.totals.correct - last_.totals.correct);
    const std::int64_t number = (epoch - 1) * steps_per_epoch_ + step;
    observer_->on_log({.epoch = epoch,
                       .step = number,
                       .loss = (sums.totals.loss - last_.totals.loss) / count,
                       .accuracy = correct / count,
                       .learning_rate = learning_rate_of(options_->sgd, number),
                       .images_per_second = count / std::chrono::duration<double>(now - start_).count()});
    last_ = sums;
    start_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const TrainingOptions* options_;
  std::int64_t steps_per_epoch_;
  TrainingObserver* observer_;
  Sums last_;
  Clock::time_point start_;
};

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
           const TrainingOptions& options, std::int64_t first_epoch, TrainingObserver& observer, Ranks* ranks) {
  const Index count = training_set.size();
  const Index steps = (count + options.batch_size - 1) / options.batch_size;
  const bool reading_is_free = network.executor->host_accessible();

  Ranks alone;
  if (ranks == nullptr) ranks = &alone;
  const bool validates = ranks->sum({.samples = validation.size()}).samples > 0;

  StepLog log(options, steps, observer);
  Watch watch({largest_input(training_set), largest_parameter(copy_parameters_out(network))}, first_epoch, options.sgd);
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> next_order;
  for (std::int64_t epoch = first_epoch; epoch <= options.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    if (epoch == first_epoch) order_of_epoch(count, options.seed, epoch, options.shuffle, order);
    step.begin_epoch(order);
    log.begin_epoch();
    for (Index first = 0; first < count; first += options.batch_size) {
      const Index rows = std::min(options.batch_size, count - first);
      step.run(first, rows);
      const Index number = first / options.batch_size + 1;
      if (reading_is_free || log.is_due(number)) {
        const Sums sums = {step.totals(), first + rows};
        watch.check_loss(sums.totals, epoch, step);
        if (log.is_due(number)) log.report(epoch, number, sums);
      }
      observer.on_step(epoch, step.samples_done(first + rows));
    }
    // This also launches what is pending: the device works while the next order is drawn.
    bool is_done = step.is_done();
    if (epoch < options.epochs) {
      order_of_epoch(count, options.seed, epoch + 1, options.shuffle, next_order);
      step.prepare_epoch(next_order);
    }
    for (; !is_done; is_done = step.is_done()) observer.on_step(epoch, step.samples_done(count));
    const Totals totals = step.totals();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    watch.check_loss(totals, epoch, step);
    step.end_epoch();

    // The last update of the epoch is in no loss yet: look at its result itself.
    const std::vector<ParameterValues> parameters = copy_parameters_out(network);
    watch.check_parameters(parameters, epoch, steps);

    // Each rank has a part of that batch: all are to know, before anybody reports the epoch.
    const Sums last = ranks->sum({.totals = run_evaluation(network, step.last_batch(), steps)});
    watch.check_loss(last.totals, epoch, step, steps);

    EpochReport report = report_of(epoch, totals, count, elapsed.count());
    report.train_loss += options.sgd.l2 / 2 * squared_norm_of_weights(parameters);
    if (!std::isfinite(report.train_loss)) {
      throw watch.failure("the share of l2 made the loss infinite" + in_step(epoch, steps));
    }
    if (validates) {
      const Evaluation evaluation = evaluate(network, validation, ranks);
      report.validation_loss = evaluation.loss;
      report.validation_accuracy = evaluation.accuracy;
    }
    observer.on_epoch(report, epoch * steps, parameters);
    order.swap(next_order);
  }
}

template void train(Network<float>&, Step&, const Dataset&, const Dataset&, const TrainingOptions&, std::int64_t,
                    TrainingObserver&, Ranks*);
template void train(Network<double>&, Step&, const Dataset&, const Dataset&, const TrainingOptions&, std::int64_t,
                    TrainingObserver&, Ranks*);

}  // namespace stagewise
