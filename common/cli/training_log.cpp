#include "cli/training_log.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <utility>

#include "cli/explain.hpp"
#include "cli/header.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

constexpr auto epoch_name = "best-epoch";
constexpr auto loss_name = "best-validation-loss";
constexpr auto accuracy_name = "best-validation-accuracy";

}  // namespace

bool BestEpoch::is_beaten_by(const EpochReport& report) const {
  if (*report.validation_accuracy != accuracy) return *report.validation_accuracy > accuracy;
  return *report.validation_loss < loss;
}

void add_best(const BestEpoch& best, std::map<std::string, std::string>& settings) {
  settings[epoch_name] = std::to_string(best.epoch);
  settings[loss_name] = shortest(best.loss);
  settings[accuracy_name] = shortest(best.accuracy);
}

std::optional<BestEpoch> read_best(const Checkpoint& checkpoint,
                                   const std::filesystem::path& file) {
  if (!checkpoint.settings.contains(epoch_name)) return std::nullopt;
  const auto stored = [&](const char* name) {
    const auto found = checkpoint.settings.find(name);
    return found == checkpoint.settings.end() ? "" : found->second;
  };
  try {
    return BestEpoch{parse_count(stored(epoch_name), 1, checkpoint.epoch),
                     parse_real(stored(loss_name), true), parse_real(stored(accuracy_name), true)};
  } catch (const UsageError& error) {
    throw Error("the checkpoint " + file.string() + " is of no use: of its best epoch, " +
                error.what());
  }
}

TrainingLog::TrainingLog(const RunOptions& options, const Dataset& training_set, const Step& step,
                         std::int64_t first_epoch, std::optional<BestEpoch> best, CsvLog log,
                         bool writes)
    : options_(&options),
      step_(&step),
      writes_(writes),
      unit_(unit_of(training_set) + "s"),
      progress_(training_set.size(), first_epoch, options.training.epochs, unit_),
      log_(std::move(log)),
      best_(best) {}

void TrainingLog::on_log(const StepReport& report) {
  progress_.clear();
  steps_.push_back(report);
  std::cout << "step " << report.step << "  loss " << loss_text(report.loss) << "  accuracy "
            << fixed(report.accuracy, 4) << "  rate " << rounded(report.learning_rate) << "  "
            << rate(report.images_per_second) << ' ' << unit_ << "/s" << std::endl;
}

void TrainingLog::on_epoch(const EpochReport& report, std::int64_t steps,
                           const std::vector<ParameterValues>& parameters) {
  progress_.clear();
  epochs_.push_back(report);
  std::cout << "epoch " << report.epoch << '/' << options_->training.epochs << "  loss "
            << loss_text(report.train_loss) << "  accuracy " << fixed(report.train_accuracy, 4);
  if (report.validation_accuracy) {
    std::cout << "  val " << fixed(*report.validation_accuracy, 4);
  }
  std::cout << "  " << duration(report.seconds) << "  " << rate(report.images_per_second) << ' '
            << unit_ << "/s" << std::endl;  // flushed, for those who watch
  warn_of_rate(report, parameters);
  const RunOptions& o = *options_;
  if (output_is_closed() && o.save.empty() && o.save_best.empty() && o.report.empty() &&
      o.csv.empty()) {
    throw OutputClosed();
  }
  if (writes_) log(report, steps);

  if (report.validation_accuracy && (!best_ || best_->is_beaten_by(report))) {
    best_ = {report.epoch, *report.validation_loss, *report.validation_accuracy};
    saved_best_ = !o.save_best.empty();
    if (saved_best_) save(o.save_best, report.epoch, steps, parameters);
  }
  const bool is_last = report.epoch == o.training.epochs;
  const bool is_due = o.save_every > 0 && report.epoch % o.save_every == 0;
  if (!o.save.empty() && (is_last || is_due)) save(o.save, report.epoch, steps, parameters);
}

void TrainingLog::warn_of_rate(const EpochReport& report,
                               const std::vector<ParameterValues>& parameters) const {
  const RunOptions& o = *options_;
  const Sgd& sgd = o.training.sgd;
  constexpr double clearly = 1.25;  // a network that hardly learns is about as good as a guess
  const double guess = std::log(o.model.classes);
  const double loss = report.train_loss - sgd.l2 / 2 * squared_norm_of_weights(parameters);
  if (report.epoch > 1 || o.model.loss != LossKind::cross_entropy || loss <= clearly * guess) {
    return;
  }
  print_note("the loss of the first epoch is above " + fixed(guess, 2) +
             ", that of a guess: a learning rate smaller than " + shortest(sgd.learning_rate) +
             " may help");
}

void TrainingLog::save(const std::filesystem::path& file, std::int64_t epoch, std::int64_t steps,
                       const std::vector<ParameterValues>& parameters) const {
  const RunOptions& o = *options_;
  Checkpoint checkpoint = {.model = o.model.name,
                           .precision = o.precision,
                           .seed = o.training.seed,
                           .epoch = epoch,
                           .step = steps,
                           .settings = settings_of(o),
                           .parameters = parameters,
                           .workers = step_->worker_parameters(),
                           .optimizer = step_->optimizer_state()};
  if (best_) add_best(*best_, checkpoint.settings);
  if (writes_) save_checkpoint(file, checkpoint);
}

void TrainingLog::log(const EpochReport& epoch, std::int64_t steps) {
  const auto begin = std::partition_point(
      steps_.begin(), steps_.end(), [&](const auto& step) { return step.epoch < epoch.epoch; });
  if (begin != steps_.end()) return log_.add(epoch, {begin, steps_.end()});
  const StepReport row = {.epoch = epoch.epoch,
                          .step = steps,
                          .loss = epoch.train_loss,
                          .accuracy = epoch.train_accuracy,
                          .learning_rate = learning_rate_of(options_->training.sgd, steps),
                          .images_per_second = epoch.images_per_second};
  log_.add(epoch, {&row, 1});
}

void TrainingLog::conclude() const {
  if (best_) {
    std::cout << "best   epoch " << best_->epoch << ", on the validation set: loss "
              << loss_text(best_->loss) << "  accuracy " << fixed(best_->accuracy, 4) << '\n';
  }
  if (!options_->save.empty()) std::cout << "saved  " << options_->save.string() << '\n';
  if (saved_best_) {
    std::cout << "saved  " << options_->save_best.string() << ", after epoch " << best_->epoch
              << '\n';
  } else if (!options_->save_best.empty()) {
    print_note("no epoch of this run was better, so " + options_->save_best.string() +
               " has not been written");
  }
}

void TrainingLog::add_to(Report& report) const {
  report.epochs = epochs_;
  report.steps = steps_;
  if (best_) report.best_epoch = best_->epoch;
}

namespace {

/// What the kernels of each line have done, instead of times, which mean nothing about a GPU.
void print_counters(const std::vector<Timing>& timings) {
  const std::vector<Column> columns = {{"line", 34, true}, {"launches", 9}, {"copies", 8},
                                       {"asked", 10},      {"sectors", 8},  {"conflicts", 10}};
  const auto count = [](double number) { return with_thousands(std::llround(number)); };
  std::cout << '\n' << heading_of(columns);
  for (const Timing& row : timings) {
    const KernelCounters& counters = row.counters;
    std::cout << row_of(columns,
                        {cut(row.operation, 34), count(counters.launches), count(counters.copies),
                         with_prefix(counters.asked_bytes(), "B"),
                         fixed(counters.sectors_per_request(), 1), count(counters.bank_conflicts)});
  }
}

}  // namespace

void print_timings(const std::vector<Timing>& timings) {
  if (are_counted(timings)) return print_counters(timings);
  double all = 0;
  for (const Timing& row : timings) all += row.seconds;
  const std::vector<Column> columns = {
      {"line", 50, true}, {"calls", 8}, {"time", 10}, {"share", 8}};
  std::cout << '\n' << heading_of(columns);
  for (const Timing& row : timings) {
    std::cout << row_of(columns,
                        {cut(row.operation, 50), with_thousands(row.calls), duration(row.seconds),
                         fixed(all > 0 ? 100 * row.seconds / all : 0, 1) + " %"});
  }
}

std::vector<TimingReport> timing_reports(const std::vector<Timing>& timings) {
  std::vector<TimingReport> reports;
  for (const Timing& row : timings) {
    reports.push_back({.operation = row.operation,
                       .calls = row.calls,
                       .forward_seconds = row.is_backward ? 0 : row.seconds,
                       .backward_seconds = row.is_backward ? row.seconds : 0});
  }
  return reports;
}

}  // namespace stagewise
