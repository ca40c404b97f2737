#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "cli/explain.hpp"
#include "cli/run.hpp"
#include "cli/stage_network.hpp"
#include "cli/text.hpp"
#include "cli/training_log.hpp"
#include "cli/training_start.hpp"
#include "network/initialize.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

void check_batch_size(const RunOptions& options, const Dataset& training_set) {
  if (options.training.batch_size > training_set.size()) {
    throw OptionError("--batch-size " + std::to_string(options.training.batch_size) +
                          " is larger than the training set of " + count_of(training_set.size(), "sample"),
                      {"batch-size"});
  }
}

void check_workers(const Stage& stage, const RunOptions& options) {
  const WorkerOptions& workers = options.workers;
  if (workers.workers <= options.training.batch_size) return;
  const bool by_ranks = stage.workers_by_ranks(options.stage) > 0;
  throw OptionError((by_ranks ? count_of(workers.workers, "process", "processes") + " are"
                              : "--workers " + std::to_string(workers.workers) + " is") +
                        " more than a batch has samples: --batch-size is " +
                        std::to_string(options.training.batch_size),
                    {"batch-size", "workers"});
}

/// The learning rate if none is given. Momentum multiplies a step by 10 in the long run, and
/// squared errors have larger gradients.
double default_learning_rate(const RunOptions& options) {
  if (options.training.sgd.rule == Rule::adam) return 0.001;
  const double rate = options.model.loss == LossKind::squared_error ? 0.1 : 0.15;
  return options.training.sgd.rule == Rule::momentum ? rate / 10 : rate;
}

/// Completes the schedule of the learning rate.
void set_schedule(RunOptions& options, Index steps_per_epoch) {
  Schedule& schedule = options.training.sgd.schedule;
  schedule.steps = options.training.epochs * steps_per_epoch;
  if (schedule.warmup > 0 && schedule.warmup >= schedule.steps && schedule.steps > 0) {
    throw OptionError("--warmup " + std::to_string(schedule.warmup) + " leaves nothing of the training's " +
                          count_of(schedule.steps, "step"),
                      {"warmup"});
  }
}

/// Loads the data, and completes the options with what they are.
/// @param notes receives what the user should know.
Split load_data(Ranks& ranks, const TrainingStart& start, RunOptions& options, std::vector<std::string>& notes) {
  options.data.precision = options.precision;
  Split data = load_adopted(options, start.file, [&] { return ranks.load_for_training(options.data); });
  if (start.is_given()) {
    const std::vector<std::string> more = check_data(start.checkpoint, options, data);
    notes.insert(notes.end(), more.begin(), more.end());
  }
  notes.insert(notes.end(), data.notes.begin(), data.notes.end());
  options.encoding = data.encoding;
  options.fingerprint = data.fingerprint;
  options.model.sample = data.train.sample_shape();
  options.model.classes = data.train.classes();
  return data;
}

/// "workers  4, averaging weights every 2 steps".
void print_workers(const WorkerOptions& workers) {
  if (workers.workers == 1) return;
  std::cout << "workers  " << workers.workers << ", averaging "
            << (workers.average == Average::weights ? "weights " : "gradients ")
            << (workers.average_every == 1 ? "in every step" : "every " + count_of(workers.average_every, "step"))
            << '\n';
}

/// What is printed before training begins.
void print_start(const Stage& stage, const RunOptions& options, const Split& data, std::int64_t parameters,
                 const TrainingStart& start, const std::vector<std::string>& notes) {
  print_header(
      stage, options,
      with_thousands(data.train.size()) + " training and " + count_of(data.test.size(), "test " + unit_of(data.train)),
      data.train.sample_shape(), data.train.classes(), parameters);
  if (stage.describe_ranks) std::cout << stage.describe_ranks(options.stage, true) << '\n';
  print_workers(options.workers);
  for (const std::string& note : notes) print_note(note);
  if (!options.resume.empty()) {
    const std::int64_t epochs_done = start.checkpoint.epoch;
    std::cout << "resume " << start.file.string() << ", after epoch " << epochs_done << '\n';
    if (epochs_done == options.training.epochs) {
      print_note("nothing is left to train of " + count_of(epochs_done, "epoch") +
                 " in all; a larger --epochs continues");
    }
  }
  std::cout << std::flush;
}

/// Prints and reports what was measured of the lines.
void add_timings(const Stage& stage, const RunOptions& options, const std::vector<Timing>& timings, Report& report) {
  report.timings = timing_reports(timings);
  if (timings.empty()) return;
  if (options.timings) print_timings(timings);
  if (!options.explain) return;
  if (stage.limits) report.limits = stage.limits(options.precision == "double");
  explain(timings, report.limits, report.timings);
  std::cout << '\n' << explanation(timings, report.limits, !stage.cuda_on_cpu);
}

template <typename T>
void train_with(const Stage& stage, RunOptions options, const TrainingStart& start, std::vector<std::string> notes) {
  Ranks& ranks = stage.all_ranks();
  CsvLog log(stage.is_first_rank() ? options.csv : "", options.resume.empty() ? nullptr : &start.checkpoint,
             start.source());
  const Split data = load_data(ranks, start, options, notes);
  const Dataset& training_set = data.train;
  check_batch_size(options, training_set);
  check_workers(stage, options);

  Model model = build_model(options.model);
  const Index max_rows = options.training.batch_size;
  const Index steps_per_epoch = (training_set.size() + max_rows - 1) / max_rows;
  check_resumption(options, start, training_set.size(), steps_per_epoch);
  set_schedule(options, steps_per_epoch);
  const std::int64_t epochs_done = options.resume.empty() ? 0 : start.checkpoint.epoch;
  if (start.is_given()) {  // before memory is allocated for others
    in_order_of(model, start.checkpoint.parameters, start.source());
  }
  Network<T> network = make_network<T>(stage, options, std::move(model));
  std::string note_on_starts;
  const Starts starts = starting_parameters(network.model, options, start, note_on_starts);
  print_start(stage, options, data, network.model.parameter_count(), start, notes);

  const StepSetup<T> setup = {.network = network,
                              .training_set = training_set,
                              .workers = options.workers,
                              .max_rows = max_rows,
                              .steps_done = epochs_done * steps_per_epoch,
                              .on_size = announce_size};
  const bool measures = options.timings || options.explain;
  std::unique_ptr<Step> step = make_step<T>(stage, {.setup = setup,
                                                    .model = options.model,
                                                    .sgd = options.training.sgd,
                                                    .options = options.stage,
                                                    .starts = starts,
                                                    .timings = measures});
  if (!options.resume.empty() && note_on_starts.empty()) {
    step->set_optimizer_state(start.checkpoint.optimizer, start.source());
  }
  network.load(max_rows);
  if (!note_on_starts.empty()) print_note(note_on_starts);
  for (const std::string& note : step->notes()) print_note(note);
  std::cout << std::flush;
  network.executor->enable_timings(measures);
  Dataset own_validation;
  const Dataset& validation = ranks.shard(data.validation, own_validation);
  std::optional<BestEpoch> best;
  if (!options.resume.empty()) best = read_best(start.checkpoint, start.file);
  TrainingLog training_log(options, training_set, *step, epochs_done + 1, best, std::move(log), stage.is_first_rank());
  train(network, *step, training_set, validation, options.training, epochs_done + 1, training_log, &ranks);
  // An epoch's checkpoint was saved with the epoch; without an epoch, nothing has been saved yet.
  if (!options.save.empty() && training_log.epochs().empty()) {
    training_log.save(options.save, epochs_done, epochs_done * steps_per_epoch, copy_parameters_out(network));
  }

  Report report = report_of(stage, options);
  training_log.add_to(report);
  add_timings(stage, options, network.executor->timings(), report);

  step.reset();  // the test may need its device memory
  Dataset own_test;
  const Dataset& test_set = ranks.shard(data.test, own_test);
  add_test(evaluate(network, test_set, &ranks), report);
  training_log.conclude();
  if (!options.report.empty() && stage.is_first_rank()) write_report(options.report, report);
}

/// Detects errors before data are read and the device is used.
void check_before(const Stage& stage, RunOptions& options) {
  drop_idle_options(stage, options);
  if (!options.save_best.empty() && options.data.validation == 0) {
    throw UsageError("--save-best needs --validation: without it, nothing says which epoch is best");
  }
  check_precision(options);
  check_files(options, stage.all_ranks());
  if (stage.prepare) stage.prepare(options.stage);
  if (stage.check) stage.check(options.stage, options.model, options.workers);
  if (options.model.name == "neuron") {  // what it is, so that a checkpoint says so
    options.model.activation = Activation::sigmoid;
    options.model.loss = LossKind::squared_error;
  }
  if (!options.given.contains("learning-rate") && !options.adopted.contains("learning-rate")) {
    options.training.sgd.learning_rate = default_learning_rate(options);
  }
  check_results_writable(stage, options);
}

}  // namespace

void run_train(const Stage& stage, RunOptions options) {
  if (!options.resume.empty() && !options.load.empty()) {
    throw UsageError(
        "--resume and --load exclude one another: the first continues a training, the second "
        "begins a new one");
  }
  if (options.save_every > 0 && options.save.empty()) {
    throw UsageError("--save-every " + std::to_string(options.save_every) + " needs --save, which names the file");
  }

  // Before a checkpoint's settings are adopted, as these may say otherwise.
  options.ranks_are_workers = stage.workers_by_ranks(options.stage) > 0;
  const TrainingStart start = read_start(stage, options);
  with_adopted(options, start.file, [&] {
    std::vector<std::string> notes;
    if (!options.load.empty()) notes = adopt_data(start.checkpoint, options, true);
    settle(stage, options, stage.all_ranks().count());
    check_before(stage, options);
    if (options.precision == "double") {
      train_with<double>(stage, options, start, notes);
    } else {
      train_with<float>(stage, options, start, notes);
    }
  });
}

}  // namespace stagewise
