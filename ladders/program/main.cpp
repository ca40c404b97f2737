/// @file
/// Runs the rungs of a ladder at a given size, verifies each against stage 01 and times it.
///
///     ladder gemm --m 37 --n 53 --k 101
///     ladder reduce --n 100000 --rung shuffles
///     ladder transpose --report transpose.json
///     ladder convolution --images 100
///     mpirun -n 2 ladder all-reduce
///     ladder persistent train --epochs 3
///
/// @note A new rung needs a file and a line. The file, in stages/03_shared_memory/ if a stage
///       executes it, else in ladders/, contains the kernel and its launch; CMake finds it there.
///       The line, in the list of the ladder (gemm.cu, reduce.cu, transpose.cu), gives its name and
///       says what it adds. Nothing else is needed: this program, `ladder rungs` and the tests take
///       the rungs from that list. Those of the convolution are listed in convolution_rungs.cpp.

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gpu_stage.hpp"
#include "cli/program.hpp"
#include "io/file.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/roofline.hpp"
#include "tensor/error.hpp"
#ifdef STAGEWISE_MPI
#include "mpi/run_ranks.hpp"
#endif

namespace stagewise::ladder {
namespace {

/// A subcommand that is a stage's program with other kernels.
struct Training {
  const char* name;
  const char* description;
  int (*run)(int argc, char** argv);
};

constexpr std::array<Training, 4> trainings = {{
    {"blocked", "stage 01's program with a blocked product", run_blocked},
    {"rungs", "stage 03's program with any of the rungs", run_rungs},
    {"tf32", "stage 04's program with convolutions in TF32", run_tf32},
    {"persistent", "stage 04's program with kernels that stay on the GPU", run_persistent},
}};

/// The processes of a run.
struct Processes {
  ProgramHooks hooks = {};
  bool is_first = true;  ///< whether this one writes files

  /// Runs the subcommand for several.
  std::function<Results(const AllReduceOptions&)> all_reduce = [](const AllReduceOptions&) -> Results {
    throw Error("this program was built without MPI (package libopenmpi-dev)");
  };
};

/// The whole program.
int run_ladder(int argc, char** argv, const Processes& processes) {
  CLI::App app(
      "Runs the kernels of a ladder, the rungs, at a given size, verifies each against stage 01 "
      "and times it. Ends with 0 if all that were run are right, 1 if not.",
      "ladder");
  app.require_subcommand(0, 1);
  const std::vector<std::string> command(argv, argv + argc);
  const auto run_one = [&](const auto& options, const auto& run) {
    const bool draws = !options.roofline.empty();
    if (!options.report.empty()) check_writable(options.report, "report");
    if (draws) check_roofline(options.roofline);
    Results results = run(options);
    if (draws || !options.report.empty()) {
      results.limits = gpu_limits(options.precision == "double");
    }
    const int code = finish(results, options, command);
    if (draws) draw_roofline(results, options, command);
    return code;
  };
  std::map<const CLI::App*, std::function<int()>> ladders;
  const auto add = [&](const char* name, const char* description, auto& options, const auto& run) {
    CLI::App* const ladder = app.add_subcommand(name, description);
    declare(*ladder, options);
    ladders[ladder] = [&] { return run_one(options, run); };
  };
  const auto run_here = [](const auto& options) { return run(options); };
  GemmOptions gemm;
  add("gemm", "the kernels that multiply matrices, verified and timed", gemm, run_here);
  ReduceOptions reduce;
  add("reduce", "the kernels that add up, verified and timed", reduce, run_here);
  TransposeOptions transpose;
  add("transpose", "the kernels that transpose, or insert a column, verified and timed", transpose, run_here);
  ConvolutionOptions convolution;
  add("convolution", "the kernels of a convolutional layer, verified and timed", convolution, run_here);
  AllReduceOptions all_reduce;
  add("all-reduce", "sums over the GPUs of several processes, verified and timed", all_reduce, processes.all_reduce);

  for (const Training& training : trainings) {  // main() runs them; here they are listed
    app.add_subcommand(training.name, training.description);
  }

  const auto body = [&] {
    if (!processes.is_first) all_reduce.report.clear();
    for (const auto& [ladder, run] : ladders) {
      if (ladder->parsed()) return run();
    }
    throw UsageError(
        "say what to do: gemm, reduce, transpose, convolution or all-reduce, or a training with "
        "other kernels: blocked, rungs, tf32 or persistent (see ladder --help)");
  };
  return run_program(app, argc, argv, body, processes.hooks);
}

}  // namespace
}  // namespace stagewise::ladder

// Declaring options throws only if one of them is declared wrongly, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  using namespace stagewise;
  for (const ladder::Training& training : ladder::trainings) {
    if (argc > 1 && std::string_view(argv[1]) == training.name) {
      return training.run(argc - 1, argv + 1);
    }
  }
#ifdef STAGEWISE_MPI
  if (argc > 1 && std::string(argv[1]) == "all-reduce") {
    return mpi::run_ranks("ladder", argc, argv, [&](mpi::World& world, const ProgramHooks& hooks) {
      const auto all_reduce = [&](const ladder::AllReduceOptions& options) { return run(options, world); };
      return ladder::run_ladder(argc, argv, {hooks, world.rank() == 0, all_reduce});
    });
  }
#endif
  return ladder::run_ladder(argc, argv, {});
}
