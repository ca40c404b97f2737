/// @file
/// Stage 05's program: stage 04 in several processes, which share every batch, or the network.

#include <functional>
#include <memory>
#include <optional>

#include "04_minibatch/recorded_prediction.hpp"
#include "04_minibatch/step_options.hpp"
#include "05_mpi/distributed_step.hpp"
#include "05_mpi/offers.hpp"
#include "05_mpi/operation_files.hpp"
#include "05_mpi/options.hpp"
#include "05_mpi/strategy.hpp"
#include "cli/gpu_stage.hpp"
#include "cli/status_line.hpp"
#include "mpi/heartbeat.hpp"
#include "mpi/run_ranks.hpp"
#include "offers/all.hpp"

namespace {

using namespace stagewise;

const std::string program = stage05_offers().program;

template <typename T>
InPrecision<T> in_precision(mpi::World& world, mpi::MpiRanks& ranks,
                            const std::function<mpi::Placement()>& place) {
  const auto transport_of = [place](const StageOptions& values) {
    return mpi::choose_transport(values.at("transport"), place());
  };
  InPrecision<T> in;
  in.make_executor = [=, &world](const StageOptions& values) {
    return std::make_unique<DistributedExecutor<T>>(transport_of(values), world,
                                                    mpi::tensor_ranks_of(values, world.size()),
                                                    mpi::patience_of(values));
  };
  in.rewrite = fuse_as_chosen<T>;
  in.make_step = [=, &world, &ranks](const StepArguments<T>& of) {
    mpi::DistributedStepOptions options = {.step = read_step_options(of.options, of.timings),
                                           .overlaps = mpi::overlaps(of.options)};
    options.step.processes = place().processes_on_device;
    auto& executor = static_cast<DistributedExecutor<T>&>(*of.setup.network.executor);
    return std::make_unique<mpi::DistributedStep<T>>(of.setup, executor, of.sgd, of.starts, world,
                                                     ranks, options);
  };
  in.step_program = [=, &world](const Model& model, const ModelOptions& described, const Sgd& sgd,
                                const WorkerOptions& workers, const StageOptions& values,
                                Index max_rows) {
    const mpi::Distribution first =
        mpi::distribution_of_first(values, described, world.size(), transport_of(values));
    const mpi::TensorPrograms programs = mpi::distribute(model, sgd, workers.average, first);
    return fuse_as_chosen<T>(programs.step.training.step, values, max_rows);
  };
  in.make_predictors = minibatch::make_predictors<T>;
  return in;
}

Stage describe_stage(mpi::World& world, mpi::MpiRanks& ranks, const ProgramHooks& hooks) {
  Stage stage = gpu_stage(stage05_offers());
  stage.option("transport").choices = mpi::transport_names();
  stage.option("timeout").default_choice = std::to_string(mpi::default_patience.count());
  stage.summary = "Stage 05: several processes share every batch, or the network, by MPI.";
  stage.why_idle = std::bind_front(mpi::why_idle, std::cref(world));
  stage.ranks = &ranks;
  stage.ranks_are_workers = [](const StageOptions& values) { return !mpi::is_split(values); };
  stage.hooks = hooks;

  // The GPU is chosen when it is first needed, not for a help text.
  auto placement = std::make_shared<std::optional<mpi::Placement>>();
  const auto place = [&world, placement] {
    if (!placement->has_value()) *placement = mpi::choose_device(world);
    return **placement;
  };
  stage.settle = mpi::choose_strategy;
  stage.check = [&world, place](const StageOptions& values, const ModelOptions& model,
                                const WorkerOptions& workers) {
    mpi::check_options(world, place(), values, model, workers);
  };
  stage.device = [place] {
    place();
    return cuda::describe_device();
  };
  stage.describe_ranks = [&world, &ranks, place](const StageOptions& values, bool trains) {
    const std::string how = mpi::describe_strategy(values, world.size()) + ", transport " +
                            mpi::choose_transport(values.at("transport"), place());
    const std::string& sent = ranks.what_was_sent();
    return "ranks  " + mpi::describe(world, place()) + (trains ? "; " + how : "") +
           (sent.empty() ? "" : "\nsent   " + sent);
  };
  stage.prepare = [&world, &ranks, place, heartbeat = std::shared_ptr<mpi::Heartbeat>()](
                      const StageOptions& values) mutable {
    if (world.size() > 1) heartbeat = mpi::make_heartbeat(world, program, mpi::patience_of(values));
    ranks.take_data_from(mpi::data_from(values.at("data-from")));
    ranks.on_sending(show_bytes("rank 0 has sent", "of samples"));
    place();
  };
  stage.in_float = in_precision<float>(world, ranks, place);
  stage.in_double = in_precision<double>(world, ranks, place);
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
