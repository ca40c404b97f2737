#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "app/commands.hpp"
#include "app/kernel_advice.hpp"
#include "app/option_table.hpp"
#include "app/program.hpp"
#include "app/stage.hpp"
#include "tensor/error.hpp"

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

int run_stage(const Stage& stage, int argc, const char* const* argv) {
  CLI::App app(stage.summary, stage.program);
  app.require_subcommand(0, 1);

  RunOptions train_options;
  RunOptions evaluate_options;
  RunOptions predict_options;
  RunOptions info_options;
  bool shows_program = false;
  CLI::App& train = *app.add_subcommand("train", "train a model");
  CLI::App& evaluate =
      *app.add_subcommand("evaluate", "accuracy and loss of a checkpoint on a data set");
  CLI::App& predict = *app.add_subcommand("predict", "the classes of samples, or of a picture");
  CLI::App& info = *app.add_subcommand("info", "what this program runs on");
  add_options(train, for_train, stage, train_options);
  add_options(evaluate, for_evaluate, stage, evaluate_options);
  add_options(predict, for_predict, stage, predict_options);
  refuse_commands_of_other_programs(app, stage);
  info.add_flag("--program", shows_program,
                "the operations of a training step, and what each costs")
      ->disable_flag_override();
  add_options(info, for_info, stage, info_options);

  const std::vector<std::string> command(argv, argv + argc);
  const auto run_command = [&] {
    if (train.parsed()) {
      run_train(stage, train_options, command);
    } else if (evaluate.parsed()) {
      run_evaluate(stage, evaluate_options, command);
    } else if (predict.parsed()) {
      run_predict(stage, predict_options, command);
    } else if (info.parsed()) {
      run_info(stage, info_options, shows_program);
    } else {
      throw UsageError("say what to do: train, evaluate, predict or info (see " + stage.program +
                       " --help)");
    }
    return 0;
  };
  const auto run = [&] { return with_kernel_advice(stage.cuda_on_cpu, run_command); };
  return run_program(app, argc, argv, run, stage.hooks);
}

}  // namespace stagewise
