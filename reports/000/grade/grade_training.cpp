#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "01_serial/serial_executor.hpp"
#include "04_minibatch/fuse/fuse.hpp"
#include "05_mpi/distributed_step.hpp"
#include "cli/text.hpp"
#include "network/initialize.hpp"
#include "reports/000/grade/grade.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"
#include "training/trainer.hpp"
#include "verify/compare.hpp"

namespace stagewise::grading {
namespace {

/// The report's tolerance.
constexpr double bound = 1e-7;

/// What a mode trains (report 000, section 3.2).
struct Mode {
  double learning_rate;
  std::int64_t epochs;
};
constexpr std::array<Mode, 3> modes = {{{0.001, 40}, {0.01, 10}, {0.025, 1}}};

/// The result of a training run.
struct Result {
  std::vector<ParameterValues> parameters;
  double seconds = 0;              ///< of all epochs; 0 if they were not run here
  std::optional<double> accuracy;  ///< on the validation set
};

class Recorder final : public TrainingObserver {
 public:
  void on_step(std::int64_t /*epoch*/, Index /*samples*/) override {}
  void on_epoch(const EpochReport& report, std::int64_t /*steps*/,
                const std::vector<ParameterValues>& parameters) override {
    result.parameters = parameters;
    result.seconds += report.seconds;
    result.accuracy = report.validation_accuracy;
  }
  Result result;
};

/// What both training runs have in common.
struct Training {
  ModelOptions model;
  TrainingOptions options;
  const Split* data;
};

Training describe_training(const GradeOptions& options, const Split& data) {
  const Mode& mode = modes.at(static_cast<std::size_t>(options.mode - 1));
  Training training;
  training.model.hidden = {options.hidden};
  training.model.activation = Activation::sigmoid;
  training.model.sample = data.train.sample_shape();
  training.model.classes = data.train.classes();
  training.options = {.batch_size = options.batch_size,
                      .epochs = options.epochs > 0 ? options.epochs : mode.epochs,
                      .sgd = {.learning_rate = mode.learning_rate, .l2 = 1e-4},
                      .shuffle = false};
  training.data = &data;
  return training;
}

std::vector<ParameterValues> start_of(const Model& model, const Training& training) {
  return initial_parameters(model, training.model, training.options.seed);
}

/// How many ranks divide the network.
int ranks_of_network(const GradeOptions& options, const mpi::World& world) {
  if (options.strategy == "hybrid") return options.tensor_ranks;
  return options.strategy == "tensor" ? world.size() : 1;
}

Result train_in_parallel(const Training& training, const GradeOptions& options, mpi::World& world, mpi::MpiRanks& ranks,
                         const mpi::Placement& placement) {
  const std::string transport = mpi::choose_transport(options.transport, placement);
  auto owned = std::make_unique<DistributedExecutor<double>>(transport, world, ranks_of_network(options, world));
  DistributedExecutor<double>& executor = *owned;
  const Index rows = training.options.batch_size;
  Network<double> network(build_model(training.model), std::move(owned),
                          [&](const Program& program) { return minibatch::fuse<double>(program, rows); });
  const Dataset& train_set = training.data->train;
  mpi::DistributedStepOptions how;
  how.step.processes = placement.processes_on_device;
  mpi::DistributedStep<double> step({network, train_set, {.workers = world.size()}, rows}, executor,
                                    training.options.sgd, {start_of(network.model, training)}, world, ranks, how);
  network.load(rows);
  Dataset storage;
  const Dataset& validation = ranks.shard(training.data->validation, storage);
  Recorder recorder;
  train<double>(network, step, train_set, validation, training.options, 1, recorder, &ranks);
  return recorder.result;
}

Result train_sequentially(const Training& training) {
  Network<double> network(build_model(training.model), std::make_unique<SerialExecutor<double>>());
  const Dataset& train_set = training.data->train;
  ProgramStep<double> step({.network = network, .training_set = train_set, .max_rows = training.options.batch_size},
                           build_training(network.model, training.options.sgd, {}),
                           {start_of(network.model, training)});
  network.load(training.options.batch_size);
  Recorder recorder;
  train<double>(network, step, train_set, Dataset(), training.options, 1, recorder);
  return recorder.result;
}

/// In the format of the report's table 1; 80 columns.
void print_table(const std::vector<Difference>& differences, int processes) {
  constexpr std::size_t width = 9;
  const auto short_name = [](const std::string& name) {  // "fc1/weight" is the report's W[0]
    return std::string(name.ends_with("bias") ? "b[" : "W[") + std::to_string(std::stoi(name.substr(2)) - 1) + "]";
  };
  std::string names = "     ";
  std::string columns = "procs";
  std::string values = right(std::to_string(processes), columns.size());
  for (const Difference& difference : differences) {
    names += right(short_name(difference.name), 2 * width);
    columns += right("max norm", width) + right("L2 norm", width);
    values += right(scientific(difference.max_norm), width) + right(scientific(difference.l2_norm), width);
  }
  std::cout << '\n' << names << '\n' << columns << '\n' << values << "\n\n";
}

}  // namespace

int grade_training(const GradeOptions& options, mpi::World& world, mpi::MpiRanks& ranks,
                   const mpi::Placement& placement) {
  const Split data = ranks.load_for_training(options.data);
  const Training training = describe_training(options, data);
  if (options.batch_size > data.train.size()) {
    throw UsageError("--batch-size " + std::to_string(options.batch_size) + " is larger than the training set of " +
                     count_of(data.train.size(), "sample"));
  }
  const int tensor_ranks = ranks_of_network(options, world);
  if (world.size() / tensor_ranks > options.batch_size) {
    throw UsageError((tensor_ranks == 1 ? count_of(world.size(), "process", "processes")
                                        : count_of(world.size() / tensor_ranks, "network")) +
                     " are more than a batch has samples: --batch-size is " + std::to_string(options.batch_size));
  }
  if (options.strategy != "data") {
    mpi::check_splittable(training.model, tensor_ranks, options.strategy);
  }
  std::cout << "grading mode " << options.mode << ": " << training.model.sample.elements() << '-' << options.hidden
            << '-' << training.model.classes << " sigmoid in double, " << count_of(training.options.epochs, "epoch")
            << " of " << count_of(data.train.size(), "sample") << ",\nbatches of " << with_thousands(options.batch_size)
            << ", learning rate " << shortest(training.options.sgd.learning_rate) << ", l2 "
            << shortest(training.options.sgd.l2) << std::endl;

  Result sequential;
  if (!options.sequential.empty() && world.rank() == 0) {  // first, because the file may be missing
    sequential.parameters = load_checkpoint(options.sequential).parameters;
  }
  const Result parallel = train_in_parallel(training, options, world, ranks, placement);
  int code = 0;
  if (world.rank() == 0) {
    if (options.sequential.empty()) sequential = train_sequentially(training);
    const std::vector<Difference> differences =
        compare_parameters(parallel.parameters, sequential.parameters, "the parallel training", "the sequential one");
    print_table(differences, world.size());
    std::cout << "parallel    " << duration(parallel.seconds) << '\n'
              << "sequential  "
              << (options.sequential.empty() ? duration(sequential.seconds)
                                             : "read from " + options.sequential.string())
              << '\n';
    if (parallel.accuracy) {
      std::cout << "accuracy    " << fixed(*parallel.accuracy, 6) << ", on the validation set of "
                << count_of(data.validation.size(), "sample") << '\n';
    }
    const bool is_right =
        std::all_of(differences.begin(), differences.end(), [](const Difference& d) { return d.within(bound); });
    std::cout << "verdict     " << (is_right ? "every error is at most " : "NOT every error is at most ")
              << scientific(bound) << '\n';
    code = is_right ? 0 : 1;
  }
  world.wait_patiently();  // the sequential training takes a while
  world.broadcast(code);
  return code;
}

}  // namespace stagewise::grading
