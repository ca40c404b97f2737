#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "cli/option_table.hpp"
#include "cli/program.hpp"
#include "cli/run.hpp"
#include "cli/stage.hpp"
#include "tensor/error.hpp"
#include "training/evaluate.hpp"

namespace stagewise {
namespace {

/// Declares `--name` as an option that the help does not show and that is refused with `sentence`.
void refuse(CLI::App& app, const std::string& name, const std::string& sentence) {
  app.add_option_function<std::string>("--" + name, [sentence](const std::string&) { throw UsageError(sentence); })
      ->expected(0, 1)
      ->group("");
}

void declare(CLI::App& app, const Option& option, const Stage& stage, RunOptions& options) {
  const auto read = [option, &options](const std::string& text) {
    option.read(text.empty() && !option.alone.empty() ? option.alone : text, options);
    options.given.insert(option.name);
  };
  if (option.argument.empty()) {
    app.add_flag_callback(
           "--" + option.name, [read] { read("on"); }, option.description)
        ->disable_flag_override();
    return;
  }
  const bool has_ranks = stage.ranks != nullptr;
  const bool are_ranks = has_ranks && option.name == "workers";
  std::string description = are_ranks ? "every process is one" : option.description;
  if (has_ranks && option.name == "batch-size" && (option.commands & for_train) != 0)
    description += ", of all processes together";
  std::string default_text = option.default_text.empty() ? option.write(options) : option.default_text;
  if (are_ranks) default_text = "as many as processes";
  CLI::Option* const declared = add_value(app, option.name, option.argument, description, default_text, read);
  declared->required(option.is_required);
  if (!option.alone.empty()) declared->expected(0, 1);
}

/// An option that only this stage has. The help of `evaluate` and `predict` omits what they do not
/// use.
Option own_option(const StageOption& own, Command command, const Stage& stage) {
  const bool only_predicts = command == for_evaluate || command == for_predict;
  const bool is_for_another = own.only_trains && only_predicts;
  const bool is_number = own.largest > 0;
  Option option = {.commands = for_train | for_evaluate | for_predict,
                   .group = is_for_another ? "" : "This stage",
                   .kept = own.changes_no_number ? Kept::freely : Kept::of_training};
  if (own.changes_program) option.commands |= for_info;
  option.name = own.name;
  option.argument = is_number ? "N" : "NAME";
  option.description = own.description + (is_number ? "" : ": " + list_of(own.choices));
  option.alone = own.choice_without_value;
  if (!option.alone.empty()) option.description += "; alone it means " + option.alone;
  option.read = [own, is_number](const std::string& text, RunOptions& o) {
    o.stage[own.name] = is_number ? std::to_string(parse_count(text, 1, own.largest)) : parse_choice(text, own.choices);
  };
  option.write = [name = own.name](const RunOptions& o) { return o.stage.at(name); };
  option.reset = [own](RunOptions& o) { o.stage[own.name] = own.default_choice; };
  option.if_absent = own.default_choice;
  option.stored_as = stage.program + "." + own.name;
  if (is_for_another) option.why_idle = [](const RunOptions&) { return "is for train"; };
  if (!only_predicts) option.insists = own.insists;
  return option;
}

/// "one, another and a third".
std::string all_of(std::vector<std::string> programs) {
  const std::string last = programs.back();
  programs.pop_back();
  return programs.empty() ? last : list_of(programs) + " and " + last;
}

/// The options that a program offers in addition to those of all stages.
std::vector<std::string> names_of(const Offers& offers) {
  std::vector<std::string> names;
  for (const StageOption& option : offers.options) names.push_back(option.name);
  for (const Option& option : option_table()) {
    if (offers.has_workers && option.group == workers_group) names.push_back(option.name);
  }
  return names;
}

/// Options of other stages are refused with a sentence that says where to find them.
void refuse_options_of_other_stages(CLI::App& app, const Stage& stage) {
  std::map<std::string, std::vector<std::string>> programs;
  for (const Offers& offers : stage.offers) {
    for (const std::string& name : names_of(offers)) programs[name].push_back(offers.program);
  }
  for (const auto& [option, offering] : programs) {
    if (app.get_option_no_throw("--" + option) != nullptr) continue;
    // This stage already says what it offers elsewhere.
    if (std::find(offering.begin(), offering.end(), stage.program) != offering.end()) continue;
    refuse(app, option, "--" + option + " is offered by " + all_of(offering) + ", not by " + stage.program);
  }
}

/// Declares the options of a command, also the stage's own; `options` receives them and must
/// outlive it.
void add_options(CLI::App& app, Command command, const Stage& stage, RunOptions& options) {
  options.stage_why_idle = stage.why_idle;
  options.data.needs_labels = command != for_predict;
  if (command == for_info) {
    app.add_flag("--program", options.shows_program, "the operations of a training step, and what each costs")
        ->disable_flag_override();
  }
  options.options = option_table();
  for (const StageOption& own : stage.options) {
    options.options.push_back(own_option(own, command, stage));
    options.options.back().reset(options);
  }
  for (const Option& option : options.options) {
    if ((option.commands & command) == 0) continue;
    if (option.group == workers_group && !stage.has_workers) continue;
    app.option_defaults()->group(command == for_info ? "With --program" : option.group);
    declare(app, option, stage, options);
  }
  app.option_defaults()->group("Options");
  if (command != for_info) refuse_options_of_other_stages(app, stage);
}

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
    throw Error(error.what() + std::string("; if you changed a kernel: run the same command with "
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
      StageCommand{"evaluate", "accuracy and loss of a checkpoint on a data set", for_evaluate, run_evaluate},
      StageCommand{"predict", "the classes of samples, or of a picture", for_predict, run_predict},
      StageCommand{"info", "what this program runs on", for_info, run_info}};
  for (StageCommand& one : commands) {
    one.app = app.add_subcommand(one.name, one.description);
    one.options.command.assign(argv, argv + argc);
    add_options(*one.app, one.command, stage, one.options);
  }
  refuse_commands_of_other_programs(app, stage);

  const auto run_command = [&] {
    for (const StageCommand& one : commands) {
      if (!one.app->parsed()) continue;
      one.run(stage, one.options);
      return 0;
    }
    throw UsageError("say what to do: train, evaluate, predict or info (see " + stage.program + " --help)");
  };
  const auto run = [&] { return with_kernel_advice(stage.cuda_on_cpu, run_command); };
  return run_program(app, argc, argv, run, stage.hooks);
}

}  // namespace stagewise
