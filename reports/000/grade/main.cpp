/// @file
/// The grading modes of report 000: is the parallel program right? A separate program, started by
/// mpirun like stage 05.

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <set>
#include <string>

#include "05_mpi/transport.hpp"
#include "cli/program.hpp"
#include "cli/stage.hpp"
#include "cli/values.hpp"
#include "cuda/device.hpp"
#include "io/data_sets/catalog.hpp"
#include "mpi/run_ranks.hpp"
#include "reports/000/grade/grade.hpp"
#include "tensor/error.hpp"

namespace stagewise::grading {
namespace {

/// The options of the command line.
struct Given {
  GradeOptions options;
  std::set<std::string> names;  ///< of the given options
};

void declare(CLI::App& app, Given& given) {
  constexpr std::int64_t widest = 1 << 24;
  GradeOptions& options = given.options;
  const auto add = [&](const std::string& name, const std::string& value, const std::string& description,
                       const std::string& default_text, const std::function<void(const std::string&)>& read) {
    add_value(app, name, value, description, default_text, [&given, name, read](const std::string& text) {
      read(text);
      given.names.insert(name);
    });
  };
  add("mode", "N", "1, 2, 3 (training), 4 (matrix products)", "",
      [&](const std::string& text) { options.mode = static_cast<int>(parse_count(text, 1, 4)); });
  add("dataset", "NAME", "mnist, digits, ...: one of train's names", "mnist",
      [&](const std::string& text) { options.data.name = parse_choice(text, dataset_names()); });
  add("data-dir", "DIR", "folder that holds mnist/, ...", "STAGEWISE_DATA_DIR, else datasets",
      [&](const std::string& text) { options.data.data_dir = parse_name(text); });
  add("train-limit", "N", "use the first N training samples", "",
      [&](const std::string& text) { options.data.train_limit = parse_count(text, 1); });
  add("validation", "N", "hold out the last N training samples", "6000",
      [&](const std::string& text) { options.data.validation = parse_count(text, 0); });
  add("hidden", "N", "width of the hidden layer", "100",
      [&](const std::string& text) { options.hidden = parse_count(text, 1, widest); });
  add("batch-size", "N", "samples a step, of all processes together", "800",
      [&](const std::string& text) { options.batch_size = parse_count(text, 1); });
  add("epochs", "N", "passes through the data", "40, 10 or 1, by mode",
      [&](const std::string& text) { options.epochs = parse_count(text, 1, 1'000'000); });
  add("strategy", "NAME", "data, tensor, hybrid", "data", [&](const std::string& text) {
    options.strategy = parse_choice(text, {"data", "tensor", "hybrid"});
  });
  add("tensor-ranks", "K", "hybrid: ranks that divide a network", "",
      [&](const std::string& text) { options.tensor_ranks = static_cast<int>(parse_count(text, 1, widest)); });
  add("transport", "NAME", list_of(mpi::transport_names()), "auto",
      [&](const std::string& text) { options.transport = parse_choice(text, mpi::transport_names()); });
  add("sequential", "FILE", "checkpoint of the sequential training, by stage 01, instead of running it", "",
      [&](const std::string& text) { options.sequential = parse_name(text); });
}

constexpr int products = 4;  // the mode that multiplies matrices

/// Why an option has no effect, as the end of a sentence that begins with its name; empty if it
/// has one.
std::string why_idle(const std::string& name, const GradeOptions& options, int processes) {
  if (options.mode == products && name != "mode") {
    return "is for the modes that train: --mode 4 multiplies matrices";
  }
  if (name == "transport" && processes == 1) {
    return "is for several processes, and there is but one";
  }
  if (name == "tensor-ranks" && options.strategy != "hybrid") return "is for --strategy hybrid";
  if (name == "data-dir" && !is_in_data_folder(options.data)) {
    return "is for data sets that are read from there, and " + options.data.name + " is generated";
  }
  return "";
}

/// @throws UsageError if the ranks cannot be divided as the strategy wants them.
void check_strategy(const GradeOptions& options, int ranks) {
  if (options.strategy != "hybrid") return;
  if (options.tensor_ranks == 0) {
    throw UsageError("--strategy hybrid needs --tensor-ranks: how many ranks divide a network");
  }
  if (ranks % options.tensor_ranks != 0) {
    throw UsageError("--tensor-ranks " + std::to_string(options.tensor_ranks) +
                     " does not divide the number of processes, " + std::to_string(ranks));
  }
}

int grade(const Given& given, const std::string& program, mpi::World& world) {
  const GradeOptions& options = given.options;
  if (options.mode == 0) {
    throw UsageError("say what to grade: --mode 1, 2, 3 (training) or 4 (matrix products)");
  }
  for (const std::string& name : given.names) {
    const std::string reason = why_idle(name, options, world.size());
    if (!reason.empty() && world.rank() == 0) note_idle(program, name, reason);
  }
  const bool trains = options.mode != products;
  if (trains) check_strategy(options, world.size());
  const mpi::Placement placement = mpi::choose_device(world);
  if (trains && world.size() > 1) mpi::check_transport(options.transport, placement);
  std::cout << program << " on " << cuda::describe_device() << "\nranks  " << mpi::describe(world, placement) << '\n';
  if (cuda::runs_on_cpu()) {
    std::cout << "note   kernels run on the CPU here: times mean nothing about GPUs\n";
  }
  if (!trains) return world.rank() == 0 ? grade_gemm() : 0;
  mpi::MpiRanks ranks(world);
  return grade_training(options, world, ranks, placement);
}

}  // namespace
}  // namespace stagewise::grading

int main(int argc, char** argv) {
  using namespace stagewise;
  const std::string program = "grade";
  return mpi::run_ranks(program, argc, argv, [&](mpi::World& world, const ProgramHooks& hooks) {
    grading::Given given;
    CLI::App app("Trains in parallel and sequentially, and compares every parameter.", program);
    grading::declare(app, given);
    const auto body = [&] {
      return with_kernel_advice(cuda::runs_on_cpu(), [&] { return grading::grade(given, program, world); });
    };
    return run_program(app, argc, argv, body, hooks);
  });
}
