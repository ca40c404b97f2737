#include "app/narrator.hpp"

#include <iostream>
#include <utility>

#include "app/header.hpp"
#include "app/output.hpp"
#include "app/text.hpp"

namespace stagewise {
namespace {

/// The parameters as a checkpoint that says where training stands.
Checkpoint make_checkpoint(const RunOptions& options, std::int64_t epoch, std::int64_t steps,
                           std::vector<ParameterValues> parameters, const Step& step) {
  return {.model = options.model.name,
          .precision = options.precision,
          .seed = options.training.seed,
          .epoch = epoch,
          .step = steps,
          .settings = settings_of(options),
          .parameters = std::move(parameters),
          .workers = step.worker_parameters()};
}

}  // namespace

Narrator::Narrator(const RunOptions& options, const Dataset& training_set, const Step& step,
                   std::int64_t first_epoch, bool writes)
    : options_(&options),
      step_(&step),
      writes_(writes),
      unit_(unit_of(training_set) + "s"),
      progress_(training_set.size(), first_epoch, options.training.epochs, unit_) {}

void Narrator::on_epoch(const EpochReport& report, std::int64_t steps,
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
  if (output_is_closed() && options_->save.empty() && options_->report.empty()) {
    throw OutputClosed();
  }

  const bool is_last = report.epoch == options_->training.epochs;
  const bool is_due = options_->save_every > 0 && report.epoch % options_->save_every == 0;
  if (!options_->save.empty() && (is_last || is_due)) {
    save(report.epoch, steps, parameters);
  }
}

void Narrator::save(std::int64_t epoch, std::int64_t steps,
                    const std::vector<ParameterValues>& parameters) const {
  const Checkpoint checkpoint = make_checkpoint(*options_, epoch, steps, parameters, *step_);
  if (writes_) save_checkpoint(options_->save, checkpoint);
}

void print_timings(const std::vector<Timing>& timings) {
  double all = 0;
  for (const Timing& row : timings) all += row.seconds;
  constexpr std::size_t width = 50;
  std::cout << "\nline                                                 calls      time   share\n";
  for (const Timing& row : timings) {
    std::string line = row.operation;
    if (line.size() > width) line = line.substr(0, width - 3) + "...";
    line.resize(width, ' ');
    std::cout << line << right(with_thousands(row.calls), 8) << right(duration(row.seconds), 10)
              << right(fixed(all > 0 ? 100 * row.seconds / all : 0, 1) + " %", 8) << '\n';
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
