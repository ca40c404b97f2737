#include "cli/training_log.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/program.hpp"
#include "cli/run.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

constexpr auto epoch_name = "best-epoch";
constexpr auto loss_name = "best-validation-loss";
constexpr auto accuracy_name = "best-validation-accuracy";

constexpr std::string_view csv_columns =
    "epoch,step,loss,accuracy,learning_rate,images_per_second,validation_loss,"
    "validation_accuracy\n";

/// How far a training has come.
struct Progress {
  std::int64_t epoch = 0;
  std::int64_t step = 0;

  bool operator==(const Progress&) const = default;
};

std::string to_text(const Progress& progress) {
  return "epoch " + with_thousands(progress.epoch) + ", step " + with_thousands(progress.step);
}

/// What the first two cells of a row say.
std::optional<Progress> progress_of(const std::string& row) {
  Progress progress;
  std::array<char, 2> commas{};
  std::istringstream cells(row);
  cells >> std::noskipws >> progress.epoch >> commas[0] >> progress.step >> commas[1];
  if (!cells || commas != std::array{',', ','}) return std::nullopt;
  return progress;
}

/// The rows that a training has written up to `end`.
std::string rows_until(const Progress& end, const std::filesystem::path& path, const std::string& source) {
  const auto failure = [&](const std::string& what) {
    return Error("the table " + path.string() + " cannot be continued: " + what + "; choose another name for --csv");
  };
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return "";
  const std::string objection = objection_to_reading(path);
  if (!objection.empty()) throw failure(objection);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure(std::strerror(errno));
  if (file.peek() == std::ifstream::traits_type::eof() && !file.bad()) return "";
  std::string line;
  if (!std::getline(file, line) || line + '\n' != csv_columns) {
    throw failure("its first line is not that of a training's log");
  }
  std::string rows;
  Progress last;
  while (std::getline(file, line) && !file.eof()) {  // the end of a line may have been cut off
    const std::optional<Progress> progress = progress_of(line);
    if (!progress) throw failure("it has a row without epoch and step");
    if (progress->epoch > end.epoch) break;  // will be trained, and written, again
    last = *progress;
    rows += line + '\n';
  }
  if (file.bad()) throw failure("it cannot be read to its end");
  if (!rows.empty() && last != end) {
    throw failure("its rows lead to " + to_text(last) + ", but " + source + " is of " + to_text(end));
  }
  return rows;
}

std::string cell_of(const std::optional<double>& value) { return value ? shortest(*value) : ""; }

std::string row_of(const StepReport& step, const EpochReport& epoch) {
  return csv_line({std::to_string(step.epoch), std::to_string(step.step), shortest(step.loss), shortest(step.accuracy),
                   shortest(step.learning_rate), shortest(step.images_per_second), cell_of(epoch.validation_loss),
                   cell_of(epoch.validation_accuracy)});
}

}  // namespace

CsvLog::CsvLog(std::filesystem::path path, const Checkpoint* resumed, const std::string& source)
    : path_(std::move(path)), beginning_(csv_columns) {
  if (path_.empty() || resumed == nullptr) return;
  beginning_ += rows_until({resumed->epoch, resumed->step}, path_, source);
}

void CsvLog::add(const EpochReport& epoch, std::span<const StepReport> rows) {
  if (path_.empty()) return;
  std::string text;
  for (const StepReport& row : rows) {
    text += row_of(row, &row == &rows.back() ? epoch : EpochReport{});
  }
  const auto bytes_of = [](const std::string& some) { return std::as_bytes(std::span(some)); };
  if (is_begun_ && std::filesystem::exists(path_)) {
    append_to_file(path_, bytes_of(text), "table");
  } else {
    write_file(path_, bytes_of(beginning_ + text), "table");
  }
  is_begun_ = true;
}

bool BestEpoch::is_beaten_by(const EpochReport& report) const {
  if (*report.validation_accuracy != accuracy) return *report.validation_accuracy > accuracy;
  return *report.validation_loss < loss;
}

std::optional<BestEpoch> read_best(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  if (!checkpoint.settings.contains(epoch_name)) return std::nullopt;
  const auto stored = [&](const char* name) {
    const auto found = checkpoint.settings.find(name);
    return found == checkpoint.settings.end() ? "" : found->second;
  };
  try {
    return BestEpoch{parse_count(stored(epoch_name), 1, checkpoint.epoch), parse_real(stored(loss_name), true),
                     parse_real(stored(accuracy_name), true)};
  } catch (const UsageError& error) {
    throw Error("the checkpoint " + file.string() + " is of no use: of its best epoch, " + error.what());
  }
}

TrainingLog::TrainingLog(const RunOptions& options, const Dataset& training_set, const Step& step,
                         std::int64_t first_epoch, std::optional<BestEpoch> best, CsvLog log, bool writes)
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
  std::cout << "epoch " << report.epoch << '/' << options_->training.epochs << "  loss " << loss_text(report.train_loss)
            << "  accuracy " << fixed(report.train_accuracy, 4);
  if (report.validation_accuracy) {
    std::cout << "  val " << fixed(*report.validation_accuracy, 4);
  }
  std::cout << "  " << duration(report.seconds) << "  " << rate(report.images_per_second) << ' ' << unit_ << "/s"
            << std::endl;  // flushed, for those who watch
  warn_of_rate(report, parameters);
  const RunOptions& o = *options_;
  if (output_is_closed() && o.save.empty() && o.save_best.empty() && o.report.empty() && o.csv.empty()) {
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

void TrainingLog::warn_of_rate(const EpochReport& report, const std::vector<ParameterValues>& parameters) const {
  const RunOptions& o = *options_;
  const Sgd& sgd = o.training.sgd;
  constexpr double clearly = 1.25;  // a network that hardly learns is about as good as a guess
  const double guess = std::log(o.model.classes);
  const double loss = report.train_loss - sgd.l2 / 2 * squared_norm_of_weights(parameters);
  if (report.epoch > 1 || o.model.loss != LossKind::cross_entropy || loss <= clearly * guess) {
    return;
  }
  print_note("the loss of the first epoch is above " + fixed(guess, 2) +
             ", that of a guess: a learning rate smaller than " + shortest(sgd.learning_rate) + " may help");
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
  if (best_) {
    checkpoint.settings[epoch_name] = std::to_string(best_->epoch);
    checkpoint.settings[loss_name] = shortest(best_->loss);
    checkpoint.settings[accuracy_name] = shortest(best_->accuracy);
  }
  if (writes_) save_checkpoint(file, checkpoint);
}

void TrainingLog::log(const EpochReport& epoch, std::int64_t steps) {
  const auto begin =
      std::partition_point(steps_.begin(), steps_.end(), [&](const auto& step) { return step.epoch < epoch.epoch; });
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
    std::cout << "best   epoch " << best_->epoch << ", on the validation set: loss " << loss_text(best_->loss)
              << "  accuracy " << fixed(best_->accuracy, 4) << '\n';
  }
  if (!options_->save.empty()) std::cout << "saved  " << options_->save.string() << '\n';
  if (saved_best_) {
    std::cout << "saved  " << options_->save_best.string() << ", after epoch " << best_->epoch << '\n';
  } else if (!options_->save_best.empty()) {
    print_note("no epoch of this run was better, so " + options_->save_best.string() + " has not been written");
  }
}

void TrainingLog::add_to(Report& report) const {
  report.epochs = epochs_;
  report.steps = steps_;
  if (best_) report.best_epoch = best_->epoch;
}

}  // namespace stagewise
