#include <algorithm>
#include <iostream>
#include <memory>

#include "app/adopted.hpp"
#include "app/check_files.hpp"
#include "app/commands.hpp"
#include "app/header.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/same_data.hpp"
#include "app/text.hpp"
#include "io/file.hpp"
#include "network/initialize.hpp"
#include "tensor/error.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

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

/// Prints a line an epoch, saves checkpoints, collects what the report will say.
class Narrator final : public TrainingObserver {
 public:
  /// @param writes whether checkpoints are written; else they are only put together, in which all
  ///        ranks take part.
  Narrator(const RunOptions& options, const Dataset& training_set, const Step& step,
           std::int64_t first_epoch, bool writes)
      : options_(&options),
        step_(&step),
        writes_(writes),
        unit_(unit_of(training_set) + "s"),
        progress_(training_set.size(), first_epoch, options.training.epochs, unit_) {}

  void on_step(std::int64_t epoch, Index samples) override { progress_.show(epoch, samples); }

  void on_epoch(const EpochReport& report, std::int64_t steps,
                const std::vector<ParameterValues>& parameters) override {
    progress_.clear();
    epochs_.push_back(report);
    std::cout << "epoch " << report.epoch << '/' << options_->training.epochs << "  loss "
              << loss_text(report.train_loss) << "  accuracy " << fixed(report.train_accuracy, 4);
    if (report.validation_accuracy) {
      std::cout << "  val " << fixed(*report.validation_accuracy, 4);
    }
    std::cout << "  " << duration(report.seconds) << "  " << rate(report.images_per_second) << ' '
              << unit_ << "/s" << std::endl;  // flushed: somebody may be waiting for this line
    if (output_is_closed() && options_->save.empty() && options_->report.empty()) {
      throw OutputClosed();
    }

    const bool is_last = report.epoch == options_->training.epochs;
    const bool is_due = options_->save_every > 0 && report.epoch % options_->save_every == 0;
    if (!options_->save.empty() && (is_last || is_due)) {
      save(report.epoch, steps, parameters);
    }
  }

  void save(std::int64_t epoch, std::int64_t steps,
            const std::vector<ParameterValues>& parameters) const {
    const Checkpoint checkpoint = make_checkpoint(*options_, epoch, steps, parameters, *step_);
    if (writes_) save_checkpoint(options_->save, checkpoint);
  }

  const std::vector<EpochReport>& epochs() const { return epochs_; }

 private:
  const RunOptions* options_;
  const Step* step_;
  bool writes_;
  std::string unit_;
  ProgressBar progress_;
  std::vector<EpochReport> epochs_;
};

/// The list of the program's lines again, with what each has cost.
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

void check_batch_size(const RunOptions& options, const Dataset& training_set) {
  if (options.training.batch_size > training_set.size()) {
    throw UsageError("--batch-size " + std::to_string(options.training.batch_size) +
                     " is larger than the training set of " +
                     count_of(training_set.size(), "sample"));
  }
}

void check_workers(const Stage& stage, const RunOptions& options) {
  const WorkerOptions& workers = options.workers;
  const bool by_ranks = stage.workers_by_ranks(options.stage) > 0;
  if (by_ranks && workers.workers > options.training.batch_size) {
    throw UsageError(count_of(workers.workers, "process", "processes") +
                     " are more than a batch has samples: --batch-size is " +
                     std::to_string(options.training.batch_size));
  }
  if (workers.workers > options.training.batch_size) {
    throw UsageError("--workers " + std::to_string(workers.workers) +
                     " is more than a batch has samples: --batch-size is " +
                     std::to_string(options.training.batch_size));
  }
}

/// "workers  4, averaging weights every 2 steps".
void print_workers(const WorkerOptions& workers) {
  if (workers.workers == 1) return;
  std::cout << "workers  " << workers.workers << ", averaging "
            << (workers.average == Average::weights ? "weights " : "gradients ")
            << (workers.average_every == 1 ? "in every step"
                                           : "every " + count_of(workers.average_every, "step"))
            << '\n';
}

/// Where each worker starts, if each has parameters of its own; else where all do.
/// @param note receives what the user should know, if there is something.
std::vector<std::vector<ParameterValues>> find_starts(const Model& model, const RunOptions& options,
                                                      const Checkpoint* start,
                                                      const std::string& source,
                                                      std::string& note) {
  const auto start_of = [&](std::uint64_t worker) {
    return start != nullptr
               ? in_order_of(model, start->parameters, source)
               : initial_parameters(model, options.model, options.training.seed, worker);
  };
  if (options.workers.average == Average::gradients) return {start_of(0)};
  std::vector<std::vector<ParameterValues>> starts;
  if (!options.resume.empty()) {
    starts = start->workers;
    const bool is_same = starts.size() == static_cast<std::size_t>(options.workers.workers);
    if (!is_same && options.ranks_are_workers) {
      note = "the checkpoint holds the weights of " + count_of(std::ssize(starts), "worker") +
             ": " + with_thousands(options.workers.workers) + " continue from their mean";
      starts.clear();
    } else if (!is_same) {
      throw Error("the checkpoint " + options.resume.string() + " holds the parameters of " +
                  count_of(std::ssize(starts), "worker") + ", but its training had " +
                  with_thousands(options.workers.workers));
    }
  }
  for (std::size_t worker = starts.size();
       worker < static_cast<std::size_t>(options.workers.workers); ++worker) {
    starts.push_back(start_of(worker));
  }
  return starts;
}

/// The stage's own; else the one that executes the program line by line.
template <typename T>
std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<T>& arguments) {
  const InPrecision<T>& in = stage.in<T>();
  if (in.make_step) {
    if (auto own = in.make_step(arguments)) return own;
  }
  TrainingPrograms programs =
      build_training(arguments.network.model, arguments.sgd, arguments.workers);
  for (Program* const program : {&programs.step, &programs.mean, &programs.take_over}) {
    *program = in.rewritten(*program, arguments.options, arguments.max_rows);
  }
  return std::make_unique<ProgramStep<T>>(
      arguments.network, arguments.training_set, std::move(programs), arguments.workers,
      arguments.starts, arguments.steps_done, arguments.max_rows, arguments.on_size);
}

template <typename T>
void train_with(const Stage& stage, RunOptions options, const Checkpoint* start,
                const std::filesystem::path& start_file, std::vector<std::string> notes,
                const std::vector<std::string>& command) {
  Ranks alone;
  Ranks& ranks = stage.ranks != nullptr ? *stage.ranks : alone;
  options.data.precision = options.precision;
  const Split data =
      load_adopted(options, start_file, [&] { return ranks.load_for_training(options.data); });
  if (start != nullptr) {
    const std::vector<std::string> more = check_data(*start, options, data);
    notes.insert(notes.end(), more.begin(), more.end());
  }
  const Dataset& training_set = data.train;
  check_batch_size(options, training_set);
  check_workers(stage, options);
  options.encoding = data.encoding;
  options.fingerprint = data.fingerprint;
  options.model.sample = training_set.sample_shape();
  options.model.classes = training_set.classes();

  Model model = build_model(options.model);
  const std::int64_t epochs_done = options.resume.empty() ? 0 : start->epoch;
  const Index steps_per_epoch =
      (training_set.size() + options.training.batch_size - 1) / options.training.batch_size;
  if (epochs_done > options.training.epochs) {
    throw UsageError("--epochs " + std::to_string(options.training.epochs) +
                     " is the total, but the checkpoint " + start_file.string() + " already has " +
                     count_of(epochs_done, "epoch"));
  }
  if (!options.resume.empty() && start->step != epochs_done * steps_per_epoch) {
    throw Error("the checkpoint " + start_file.string() + " stopped after " +
                count_of(start->step, "step") + " in " + count_of(start->epoch, "epoch") +
                ", which does not fit " + count_of(training_set.size(), "training sample") +
                "; it was trained on other data");
  }

  const Index max_rows = options.training.batch_size;
  const auto rewrite = [&](const Program& program) {
    return stage.in<T>().rewritten(program, options.stage, max_rows);
  };
  Network<T> network(std::move(model), stage.in<T>().make_executor(options.stage), rewrite);
  if (!stage.in<T>().step_program) {  // before the starts take the host's memory
    network.executor->expect_room(
        rewrite(build_training(network.model, options.training.sgd, options.workers).step),
        max_rows);
  }
  std::string note_on_starts;
  const std::vector<std::vector<ParameterValues>> starts = find_starts(
      network.model, options, start, "the checkpoint " + start_file.string(), note_on_starts);
  print_header(stage, options,
               with_thousands(training_set.size()) + " training and " +
                   count_of(data.test.size(), "test " + unit_of(training_set)),
               training_set, network.model.parameter_count());
  if (stage.describe_ranks) std::cout << stage.describe_ranks(options.stage, true) << '\n';
  print_workers(options.workers);
  for (const std::string& note : notes) print_note(note);
  if (!options.resume.empty()) {
    std::cout << "resume " << start_file.string() << ", after epoch " << epochs_done << '\n';
    if (epochs_done == options.training.epochs) {
      print_note("nothing is left to train of " + count_of(epochs_done, "epoch") +
                 " in all; a larger --epochs continues");
    }
  }
  std::cout << std::flush;

  std::unique_ptr<Step> step_owner =
      make_step<T>(stage, {.network = network,
                           .model = options.model,
                           .training_set = training_set,
                           .sgd = options.training.sgd,
                           .options = options.stage,
                           .workers = options.workers,
                           .starts = starts,
                           .steps_done = epochs_done * steps_per_epoch,
                           .max_rows = max_rows,
                           .timings = options.timings,
                           .on_size = announce_size});
  Step& step = *step_owner;
  network.load(max_rows);
  if (!note_on_starts.empty()) print_note(note_on_starts);
  for (const std::string& note : step.notes()) print_note(note);
  std::cout << std::flush;
  network.executor->enable_timings(options.timings);
  Dataset own_validation;
  const Dataset& validation = ranks.shard(data.validation, own_validation);
  Narrator narrator(options, training_set, step, epochs_done + 1, stage.is_first_rank());
  train(network, step, training_set, validation, options.training, epochs_done + 1, narrator,
        &ranks);

  Report report{.stage = stage.program,
                .device = stage.device(),
                .cuda_on_cpu = stage.cuda_on_cpu,
                .command = command,
                .model = describe(options.model),
                .dataset = options.data.name,
                .precision = options.precision,
                .batch_size = options.training.batch_size,
                .seed = options.training.seed,
                .epochs = narrator.epochs()};
  for (const Timing& row : network.executor->timings()) {
    report.timings.push_back({.operation = row.operation,
                              .calls = row.calls,
                              .forward_seconds = row.is_backward ? 0 : row.seconds,
                              .backward_seconds = row.is_backward ? row.seconds : 0});
  }

  // An epoch's checkpoint was saved with the epoch; without an epoch, nothing has been saved yet.
  if (!options.save.empty() && narrator.epochs().empty()) {
    narrator.save(epochs_done, epochs_done * steps_per_epoch, copy_parameters_out(network));
  }
  if (!report.timings.empty()) print_timings(network.executor->timings());

  step_owner.reset();  // what it has on the device, the test may need
  Dataset own_test;
  const Dataset& test_set = ranks.shard(data.test, own_test);
  const Evaluation test = evaluate(network, test_set, &ranks);
  report.test_loss = test.loss;
  report.test_accuracy = test.accuracy;
  std::cout << "test   loss " << loss_text(test.loss) << "  accuracy " << fixed(test.accuracy, 4)
            << "  (" << with_thousands(test.correct) << " of " << with_thousands(test.samples)
            << ")\n";
  if (!options.save.empty()) std::cout << "saved  " << options.save.string() << '\n';
  if (!options.report.empty() && stage.is_first_rank()) write_report(options.report, report);
}

}  // namespace

void run_train(const Stage& stage, RunOptions options, const std::vector<std::string>& command) {
  if (!options.resume.empty() && !options.load.empty()) {
    throw UsageError(
        "--resume and --load exclude one another: the first continues a training, the second "
        "begins a new one");
  }
  if (options.save_every > 0 && options.save.empty()) {
    throw UsageError("--save-every " + std::to_string(options.save_every) +
                     " needs --save, which names the file");
  }

  // Before a checkpoint's settings are adopted, as these may say otherwise.
  options.ranks_are_workers = stage.workers_by_ranks(options.stage) > 0;
  Checkpoint start;
  std::vector<std::string> notes;
  const std::filesystem::path start_file = options.resume.empty() ? options.load : options.resume;
  if (!start_file.empty()) {
    start = load_checkpoint(start_file);
    if (stage.ranks != nullptr) {
      stage.ranks->expect_same("the checkpoint " + start_file.string(), digest_of(start));
    }
    expect_finite(start, "the checkpoint " + start_file.string());
    if (options.resume.empty()) {
      adopt_model(start, start_file, options);
    } else {
      with_adopted(options, start_file, [&] { adopt_training(start, start_file, options); });
    }
    expect_described(start, options, start_file);
  }
  with_adopted(options, start_file, [&] {
    if (!options.load.empty()) notes = adopt_data(start, options, true);
    take_workers_of_ranks(stage, options);
    refuse_idle_options(options);
    if (options.save_every > 0 && options.save_every >= options.training.epochs) {
      throw UsageError("--save-every " + std::to_string(options.save_every) +
                       " adds nothing: --save writes at the end, and --epochs is " +
                       std::to_string(options.training.epochs));
    }
    check_precision(options);
    Ranks alone;
    check_files(options, stage.ranks != nullptr ? *stage.ranks : alone);
    if (stage.prepare) stage.prepare(options.stage);
    if (stage.check) stage.check(options.stage, options.model, options.workers);
    if (options.model.name == "neuron") {  // what it is, so that a checkpoint says so
      options.model.activation = Activation::sigmoid;
      options.model.loss = LossKind::squared_error;
    }
    if (stage.is_first_rank()) {
      if (!options.save.empty()) check_writable(options.save, "checkpoint");
      if (!options.report.empty()) check_writable(options.report, "report");
    }

    const Checkpoint* const given = start_file.empty() ? nullptr : &start;
    if (options.precision == "double") {
      train_with<double>(stage, options, given, start_file, notes, command);
    } else {
      train_with<float>(stage, options, given, start_file, notes, command);
    }
  });
}

}  // namespace stagewise
