#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>

#include "app/commands.hpp"
#include "app/ladder_command.hpp"
#include "app/program.hpp"
#include "app/stage.hpp"
#include "tensor/error.hpp"
#include "training/not_finite.hpp"

namespace stagewise {
namespace {

constexpr auto advice_on_kernels =
    "; if you changed a kernel: run the same command with STAGEWISE_CPU_THREAD_ORDER=reverse "
    "before it; if it ends differently, threads race (docs/pages/when_your_kernel_is_wrong.md)";

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

void run_info(const Stage& stage, bool primitives) {
  const std::string device = stage.device();  // first, as it fails where there is no GPU
  // "Stage 01: loops" behind the program's name would say the number twice.
  const std::size_t colon = stage.summary.find(": ");
  const bool is_numbered = stage.summary.starts_with("Stage ") && colon != std::string::npos;
  std::cout << stage.program << ": "
            << (is_numbered ? stage.summary.substr(colon + 2) : stage.summary) << '\n'
            << "runs on    " << device << '\n'
            << "version    " << version_text() << '\n';
  for (const std::string& library : stage.libraries()) {
    std::cout << "library    " << library << '\n';
  }
  if (!primitives) return;
  std::size_t width = 0;
  for (const PrimitiveSource& row : stage.primitives) width = std::max(width, row.primitive.size());
  std::cout << '\n';
  for (const PrimitiveSource& row : stage.primitives) {
    std::cout << row.primitive << std::string(width - row.primitive.size() + 2, ' ') << row.file
              << '\n';
  }
}

int run_stage(const Stage& stage, int argc, const char* const* argv) {
  CLI::App app(stage.summary, stage.program);
  app.require_subcommand(0, 1);

  RunOptions train_options;
  RunOptions evaluate_options;
  bool primitives = false;
  CLI::App& train = *app.add_subcommand("train", "train a model");
  CLI::App& evaluate =
      *app.add_subcommand("evaluate", "accuracy and loss of a checkpoint on a data set");
  CLI::App& info = *app.add_subcommand("info", "what this program runs on");
  add_train_options(train, stage, train_options);
  add_evaluate_options(evaluate, stage, evaluate_options);
  std::deque<LadderOptions> ladder_options;  // whose elements stay where they are
  std::vector<CLI::App*> ladders;
  for (const LadderCommand& ladder : stage.ladders) {
    ladders.push_back(app.add_subcommand(ladder.name, ladder.summary));
    add_ladder_options(*ladders.back(), stage, ladder, ladder_options.emplace_back());
  }
  for (const char* const ladder : {"gemm", "reduce", "transpose"}) {
    const bool offered = std::any_of(stage.ladders.begin(), stage.ladders.end(),
                                     [&](const auto& own) { return own.name == ladder; });
    if (offered) continue;
    app.add_subcommand(ladder)->group("")->prefix_command()->callback([&stage, ladder] {
      throw UsageError(std::string(ladder) + " is offered by stage03_shared_memory, not by " +
                       stage.program);
    });
  }
  std::vector<CLI::App*> commands;
  for (const StageCommand& command : stage.commands) {
    commands.push_back(app.add_subcommand(command.name, command.summary));
    command.declare(*commands.back());
  }
  if (commands.empty()) {
    app.add_subcommand("grade")->group("")->prefix_command()->callback(
        [&stage] { throw UsageError("grade is offered by stage05_mpi, not by " + stage.program); });
  }
  info.add_flag("--primitives", primitives, "which file computes what")->disable_flag_override();

  const std::vector<std::string> command(argv, argv + argc);
  const auto run_command = [&] {
    for (std::size_t i = 0; i < ladders.size(); ++i) {
      if (!ladders[i]->parsed()) continue;
      return run_ladder(stage, stage.ladders[i], ladder_options[i], command);
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (commands[i]->parsed()) return stage.commands[i].run(command);
    }
    if (train.parsed()) {
      run_train(stage, train_options, command);
    } else if (evaluate.parsed()) {
      run_evaluate(stage, evaluate_options, command);
    } else if (info.parsed()) {
      run_info(stage, primitives);
    } else {
      std::string names = "train, evaluate";
      for (const LadderCommand& ladder : stage.ladders) names += ", " + ladder.name;
      for (const StageCommand& other : stage.commands) names += ", " + other.name;
      throw UsageError("say what to do: " + names + " or info (see " + stage.program + " --help)");
    }
    return 0;
  };
  const auto run = [&] {
    try {
      return run_command();
    } catch (const NotFinite& error) {
      if (!stage.cuda_on_cpu || !error.may_be_a_kernel()) throw;
      throw Error(error.what() + std::string(advice_on_kernels));
    }
  };
  return run_program(app, argc, argv, run, stage.hooks);
}

}  // namespace stagewise
