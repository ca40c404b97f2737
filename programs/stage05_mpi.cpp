/// @file
/// Stage 05's program.

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "04_minibatch/fuse.hpp"
#include "05_mpi/devices.hpp"
#include "05_mpi/distributed_step.hpp"
#include "app/stage.hpp"
#include "app/status_line.hpp"
#include "cuda/device.hpp"
#include "latency/predictors.hpp"
#include "mpi/heartbeat.hpp"
#include "programs/gpu_limits.hpp"
#include "programs/offers.hpp"
#include "programs/operation_files.hpp"
#include "programs/run_ranks.hpp"
#include "programs/step_options.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace {

using namespace stagewise;

const std::string program = stage05_offers().program;

// ----------------------------------------------------------------------------------------- options

bool has_strategy(const StageOptions& values, const std::string& name) {
  return values.at("strategy") == name;
}

bool is_split(const StageOptions& values) {
  return has_strategy(values, "tensor") || has_strategy(values, "hybrid");
}

/// How many of these processes have a network together.
int tensor_ranks_of(const StageOptions& values, int processes) {
  if (has_strategy(values, "hybrid")) return std::stoi(values.at("tensor-ranks"));
  return has_strategy(values, "tensor") ? processes : 1;
}

/// @throws UsageError for options with which this stage cannot train.
void check_options(const mpi::World& world, const mpi::Placement& placement,
                   const StageOptions& values, const ModelOptions& model,
                   const WorkerOptions& workers) {
  mpi::check_transport(values.at("transport"), placement);
  if (!is_split(values)) return;
  const int tensor_ranks = tensor_ranks_of(values, world.size());
  if (world.size() % tensor_ranks != 0) {
    throw OptionError("--tensor-ranks " + std::to_string(tensor_ranks) +
                          " does not divide the number of processes, " +
                          std::to_string(world.size()),
                      {"tensor-ranks"});
  }
  mpi::check_splittable(model, tensor_ranks, values.at("strategy"));
  if (workers.workers > 1 || workers.average == Average::weights) {  // from a checkpoint
    throw OptionError(
        "--strategy " + values.at("strategy") +
            " has no workers whose results could be averaged: several ranks work on the same "
            "samples; --strategy data has",
        {"strategy"});
  }
}

/// Why an option has no effect: some need several processes, others a certain strategy.
std::string why_idle(const mpi::World& world, const std::string& option, const StageOptions& values,
                     const ModelOptions& model, const WorkerOptions& workers, const Sgd& sgd) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), option) != names.end();
  };
  if (option == "tensor-ranks" && !has_strategy(values, "hybrid")) {
    return "is for --strategy hybrid: otherwise, each process has a whole network, or all have one "
           "together";
  }
  const bool is_alone = world.size() == 1 && workers.workers == 1;  // info shows one of two
  if (is_alone && is_one_of({"transport", "timeout", "overlap", "data-from"})) {
    return "is for several processes, and there is but one: start them with mpirun -n";
  }
  if (is_split(values) && is_one_of({"average", "average-every", "gather"})) {
    return "is for --strategy data: with " + values.at("strategy") +
           ", several ranks work on the same samples, in step with each other";
  }
  if (has_strategy(values, "tensor") && option == "overlap") {
    return "is for --strategy data or hybrid: with tensor, there are no gradients to exchange";
  }
  if (option == "overlap" && workers.average == Average::weights) {
    return "is for --average gradients: weights are exchanged when a step is done";
  }
  if (world.size() > 1 && option == "persistent") {
    return "is for one process: several exchange gradients in every step";
  }
  return why_idle_in_step(option, values, model, workers, sgd);
}

/// Unset for auto; see DistributedStepOptions.
std::optional<bool> overlaps(const StageOptions& values) {
  const std::string& choice = values.at("overlap");
  return choice == "auto" ? std::nullopt : std::optional(choice == "on");
}

/// Who reads the data.
mpi::DataFrom data_from(const StageOptions& values) {
  const std::string& choice = values.at("data-from");
  if (choice == "root") return mpi::DataFrom::root;
  return choice == "all" ? mpi::DataFrom::all : mpi::DataFrom::automatic;
}

/// Shows on a terminal how much of the data rank 0 has sent.
std::function<void(std::uint64_t, std::uint64_t)> show_sending() {
  return [line = std::make_shared<StatusLine>()](std::uint64_t sent, std::uint64_t all) {
    if (sent == all) return line->clear();
    line->show(
        ("rank 0 has sent " + size_text(sent) + " of " + size_text(all) + " of samples").c_str());
  };
}

/// How long a rank waits for another.
std::chrono::seconds patience_of(const StageOptions& values) {
  return std::chrono::seconds(std::stoll(values.at("timeout")));
}

/// Ends all processes when one on this host has stopped.
std::shared_ptr<mpi::Heartbeat> make_heartbeat(mpi::World& world, std::chrono::seconds patience) {
  return std::make_shared<mpi::Heartbeat>(world, patience, [&world, patience](int rank) {
    if (world.is_first_to_fail()) {
      std::cerr << program << ": rank " << rank << " has not run for "
                << count_of(patience.count(), "second")
                << ": it has been stopped, or its host is overloaded; --timeout says how long to "
                   "wait."
                << std::endl;
    }
    // Time for mpirun to read this; or, if another was first, for that one, which may have stopped.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    mpi::World::abort(1);
  });
}

// ------------------------------------------------------------------------------ what the stage has

/// What the stage's functions need from this process.
struct Process {
  mpi::World* world;
  mpi::MpiRanks* ranks;
  std::function<mpi::Placement()> place;
};

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const Process& process, const StageOptions& values) {
  return std::make_unique<DistributedExecutor<T>>(
      mpi::choose_transport(values.at("transport"), process.place()), *process.world,
      tensor_ranks_of(values, process.world->size()), patience_of(values));
}

template <typename T>
std::unique_ptr<Step> make_step(const Process& process, const StepArguments<T>& arguments) {
  const StageOptions& values = arguments.options;
  mpi::DistributedStepOptions options = {.step = read_step_options(values, arguments.timings),
                                         .overlaps = overlaps(values)};
  options.step.processes = process.place().processes_on_device;
  return std::make_unique<mpi::DistributedStep<T>>(
      arguments.setup, static_cast<DistributedExecutor<T>&>(*arguments.setup.network.executor),
      arguments.sgd, arguments.starts, *process.world, *process.ranks, options);
}

/// For rank 0 of at least two, with hybrid of at least two networks.
template <typename T>
Program step_program(const Process& process, const Model& model, const ModelOptions& described,
                     const Sgd& sgd, const WorkerOptions& workers, const StageOptions& values,
                     Index max_rows) {
  const std::string transport = mpi::choose_transport(values.at("transport"), process.place());
  const bool with_overlap = overlaps(values).value_or(!mpi::adds_up_in_kernels(transport));
  const bool is_hybrid = has_strategy(values, "hybrid");
  const int least = is_hybrid ? 2 * tensor_ranks_of(values, 0) : 2;
  const int processes = std::max(process.world->size(), least);
  const int tensor_ranks = tensor_ranks_of(values, processes);
  const Part samples = {0, processes / tensor_ranks};
  if (is_split(values)) mpi::check_splittable(described, tensor_ranks, values.at("strategy"));
  StepPrograms programs =
      is_split(values)
          ? mpi::distribute_tensor(model, sgd, {0, tensor_ranks}, samples, with_overlap).step
          : mpi::distribute_data(model, sgd, workers.average, samples, with_overlap);
  Program& step = programs.training.step;
  if (mpi::can_update(transport)) step = mpi::fuse_sums_with_updates(step);
  const Program fused = minibatch::fuse<T>(step, max_rows, read_fuse_options(values));
  const bool has_bands = with_overlap && !mpi::adds_up_in_kernels(transport);
  return has_bands ? mpi::sum_in_bands(fused, max_rows) : fused;
}

template <typename T>
InPrecision<T> in_precision(const Process& process) {
  return {
      .make_executor =
          [process](const StageOptions& values) { return make_executor<T>(process, values); },
      .rewrite =
          [](const Program& forward, const StageOptions& values, Index max_rows) {
            return minibatch::fuse<T>(forward, max_rows, read_fuse_options(values));
          },
      .make_step =
          [process](const StepArguments<T>& arguments) { return make_step(process, arguments); },
      .step_program =
          [process](const Model& model, const ModelOptions& described, const Sgd& sgd,
                    const WorkerOptions& workers, const StageOptions& values, Index max_rows) {
            return step_program<T>(process, model, described, sgd, workers, values, max_rows);
          },
      .make_predictors = minibatch::make_predictors<T>};
}

Stage describe_stage(mpi::World& world, mpi::MpiRanks& ranks, const ProgramHooks& hooks) {
  Stage stage(stage05_offers());
  stage.option("transport").choices = mpi::transport_names();
  stage.option("timeout").default_choice = std::to_string(mpi::default_patience.count());
  stage.summary = "Stage 05: several processes share every batch, or the network, by MPI.";
  stage.cuda_on_cpu = cuda::runs_on_cpu();
  stage.limits = gpu_limits;
  stage.why_idle = [&world](const std::string& option, const StageOptions& values,
                            const ModelOptions& model, const WorkerOptions& workers,
                            const Sgd& sgd) {
    return why_idle(world, option, values, model, workers, sgd);
  };
  stage.ranks = &ranks;
  stage.ranks_are_workers = [](const StageOptions& values) { return !is_split(values); };
  stage.hooks = hooks;

  // The GPU is chosen when it is first needed, not for a help text.
  auto placement = std::make_shared<std::optional<mpi::Placement>>();
  const auto place = [&world, placement] {
    if (!placement->has_value()) *placement = mpi::choose_device(world);
    return **placement;
  };
  stage.check = [&world, place](const StageOptions& values, const ModelOptions& model,
                                const WorkerOptions& workers) {
    check_options(world, place(), values, model, workers);
  };
  stage.device = [place] {
    place();
    return cuda::describe_device();
  };
  stage.describe_ranks = [&world, &ranks, place](const StageOptions& values, bool trains) {
    std::string how = "; strategy " + values.at("strategy");
    if (has_strategy(values, "hybrid")) {
      how += " with " + count_of(tensor_ranks_of(values, world.size()), "rank") + " to a network";
    }
    how += ", transport " + mpi::choose_transport(values.at("transport"), place());
    const std::string& sent = ranks.what_was_sent();
    return "ranks  " + mpi::describe(world, place()) + (trains ? how : "") +
           (sent.empty() ? "" : "\nsent   " + sent);
  };
  stage.prepare = [&world, &ranks, place, heartbeat = std::shared_ptr<mpi::Heartbeat>()](
                      const StageOptions& values) mutable {
    if (world.size() > 1) heartbeat = make_heartbeat(world, patience_of(values));
    ranks.take_data_from(data_from(values));
    ranks.on_sending(show_sending());
    place();
  };
  const Process process = {&world, &ranks, place};
  stage.in_float = in_precision<float>(process);
  stage.in_double = in_precision<double>(process);
  stage.folder = "stages/05_mpi/";
  stage.files = stage05_files();
  stage.offers = all_offers();
  stage.libraries = [] {
    std::vector<std::string> libraries = cuda::describe_libraries();
    libraries.push_back(mpi::describe_library());
    return libraries;
  };
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return mpi::run_ranks(program, argc, argv, [&](mpi::World& world, const ProgramHooks& hooks) {
    mpi::MpiRanks ranks(world);
    return run_stage(describe_stage(world, ranks, hooks), argc, argv);
  });
}
