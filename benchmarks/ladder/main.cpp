/// @file
/// Runs the rungs of a ladder at a given size, verifies each against stage 01 and times it.
///
///     ladder gemm --m 37 --n 53 --k 101
///     ladder reduce --n 100000 --rung shuffles
///     ladder transpose --report transpose.json
///
/// @note A new rung needs a file and a line. The file, in the ladder's folder in
///       stages/03_shared_memory/, contains the kernel and its launch; CMake finds it there. The
///       line, in the list in gemm.cu or transpose.cu beside that folder, gives its name and says
///       what it adds; above the list, the file is included, or its launch declared
///       (gemm/rungs.hpp). reduce.cu has three ladders: a rung needs a label there, and a line in
///       each of the three lists. Nothing else is needed: this program, `train --gemm` and the
///       tests take the rungs from that list.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "io/file.hpp"
#include "ladder/commands.hpp"
#include "tensor/error.hpp"

// Declaring options throws only if one of them is declared wrongly, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  using namespace stagewise;
  CLI::App app(
      "Runs the kernels of a ladder, the rungs, at a given size, verifies each against stage 01 "
      "and times it. Ends with 0 if all that were run are right, 1 if not.",
      "ladder");
  app.require_subcommand(0, 1);
  ladder::GemmOptions gemm;
  ladder::ReduceOptions reduce;
  ladder::TransposeOptions transpose;
  declare(*app.add_subcommand("gemm", "the kernels that multiply matrices, verified and timed"),
          gemm);
  declare(*app.add_subcommand("reduce", "the kernels that add up, verified and timed"), reduce);
  declare(*app.add_subcommand("transpose",
                              "the kernels that transpose, or insert a column, verified and timed"),
          transpose);

  const std::vector<std::string> command(argv, argv + argc);
  const auto run_ladder = [&](const auto& options) {
    if (!options.report.empty()) check_writable(options.report, "report");
    return finish(run(options), options, command);
  };
  return run_program(app, argc, argv, [&] {
    if (app.got_subcommand("gemm")) return run_ladder(gemm);
    if (app.got_subcommand("reduce")) return run_ladder(reduce);
    if (app.got_subcommand("transpose")) return run_ladder(transpose);
    throw UsageError("say what to do: gemm, reduce or transpose (see ladder --help)");
  });
}
