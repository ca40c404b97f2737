#include <CLI/CLI.hpp>
#include <array>
#include <fstream>

#include "cli/commands.hpp"
#include "cli/option_table.hpp"
#include "cli/program.hpp"
#include "cli/stage.hpp"
#include "training/evaluate.hpp"

namespace stagewise {
namespace {

/// Subcommands of other programs are refused with a sentence that says where to find them.
void refuse_commands_of_other_programs(CLI::App& app, const Stage& stage) {
  for (const Offers& offers : stage.offers) {
    for (const std::string& name : offers.commands) {
      CLI::App& command = *app.add_subcommand(name)->group("")->prefix_command();
      command.set_help_flag();  // there is nothing to help with: its --help is refused, too
      command.callback([&stage, &offers, name] {
        throw UsageError(name + " is offered by " + offers.program + ", not by " + stage.program);
      });
    }
  }
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

int with_kernel_advice(bool cuda_on_cpu, const std::function<int()>& body) {
  try {
    return body();
  } catch (const NotFinite& error) {
    if (!cuda_on_cpu || !error.may_be_a_kernel()) throw;
    throw Error(error.what() +
                std::string("; if you changed a kernel: run the same command with "
                            "STAGEWISE_CPU_THREAD_ORDER=reverse before it; if it ends "
                            "differently, threads race (docs/pages/when_your_kernel_is_wrong.md)"));
  }
}

int run_stage(const Stage& stage, int argc, const char* const* argv) {
  CLI::App app(stage.summary, stage.program);
  app.require_subcommand(0, 1);
  struct StageCommand {
    const char* name;
    const char* description;
    Command command;
    decltype(&run_train) run;
    RunOptions options = {};
    CLI::App* app = nullptr;
  };
  std::array commands = {
      StageCommand{"train", "train a model", for_train, run_train},
      StageCommand{"evaluate", "accuracy and loss of a checkpoint on a data set", for_evaluate,
                   run_evaluate},
      StageCommand{"predict", "the classes of samples, or of a picture", for_predict, run_predict},
      StageCommand{"info", "what this program runs on", for_info, run_info}};
  for (StageCommand& one : commands) {
    one.app = app.add_subcommand(one.name, one.description);
    add_options(*one.app, one.command, stage, one.options);
  }
  refuse_commands_of_other_programs(app, stage);

  const auto run_command = [&] {
    for (const StageCommand& one : commands) {
      if (!one.app->parsed()) continue;
      one.run(stage, one.options, {argv, argv + argc});
      return 0;
    }
    throw UsageError("say what to do: train, evaluate, predict or info (see " + stage.program +
                     " --help)");
  };
  const auto run = [&] { return with_kernel_advice(stage.cuda_on_cpu, run_command); };
  return run_program(app, argc, argv, run, stage.hooks);
}

}  // namespace stagewise
