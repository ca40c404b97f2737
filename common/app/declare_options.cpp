#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "app/options.hpp"
#include "app/settings.hpp"
#include "app/values.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

const std::vector<std::string> precisions = {"float", "double"};

/// Declares `--name VALUE` and takes note if it is written.
CLI::Option* add(CLI::App& command, RunOptions& options, const std::string& name,
                 const std::string& value, const std::string& description,
                 const std::string& default_text,
                 const std::function<void(const std::string&)>& read) {
  return add_value(command, name, value, description, default_text,
                   [name, read, &options](const std::string& text) {
                     read(text);
                     options.given.insert(name);
                   });
}

void add_setting(CLI::App& command, RunOptions& options, const std::string& name,
                 const std::string& value, const std::string& description) {
  const Setting& setting = setting_of(name);
  add(command, options, name, value, description, setting.write(options),
      [&setting, &options](const std::string& text) { setting.read(text, options); });
}

/// Declares `--name` as an option that the help does not show and that is refused with `sentence`.
void refuse(CLI::App& command, const std::string& name, const std::string& sentence) {
  command
      .add_option_function<std::string>(
          "--" + name, [sentence](const std::string&) { throw UsageError(sentence); })
      ->expected(0, 1)
      ->group("");
}

enum class Command : std::uint8_t { train, evaluate, predict, info };

/// The stage's own options. The help of `evaluate` and `predict` omits what they do not use.
void add_stage_options(CLI::App& command, const Stage& stage, RunOptions& options, Command which) {
  options.program = stage.program;
  options.only_predicts = which == Command::evaluate || which == Command::predict;
  options.stage_why_idle = stage.why_idle;
  command.option_defaults()->group("This stage");
  for (const StageOption& option : stage.options) {
    options.stage[option.name] = option.default_choice;
    options.stage_options[option.name] = option;
    if (which == Command::info && !option.changes_program) continue;
    const bool is_number = option.largest > 0;
    CLI::Option* const declared =
        add(command, options, option.name, is_number ? "N" : "NAME",
            option.description + (is_number ? "" : ": " + list_of(option.choices)) +
                (option.choice_without_value.empty()
                     ? ""
                     : "; alone it means " + option.choice_without_value),
            option.default_choice, [&options, option](const std::string& text) {
              const bool is_alone = text.empty() && !option.choice_without_value.empty();
              options.stage[option.name] =
                  is_alone ? option.choice_without_value : parse_stage_option(text, option);
            });
    if (!option.choice_without_value.empty()) declared->expected(0, 1);
    if (option.only_trains && options.only_predicts) declared->group("");
  }
}

void add_model_options(CLI::App& command, RunOptions& options) {
  add_setting(command, options, "hidden", "LIST", "widths of the hidden layers; none for none");
  std::string names;
  for (const ActivationNames& one : activations) {
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  add_setting(command, options, "activation", "NAME", names);
  add_setting(command, options, "loss", "NAME", "cross-entropy, squared-error");
  add_setting(command, options, "biases", "on|off", "whether layers have biases");
}

void add_optimizer_options(CLI::App& command, RunOptions& options) {
  add_setting(command, options, "optimizer", "NAME", "sgd, momentum, adam");
  add_setting(command, options, "momentum", "X", "of momentum: what is left of a step in the next");
  add_setting(command, options, "beta1", "X", "of adam: the same for the mean of gradients");
  add_setting(command, options, "beta2", "X", "of adam: and for that of their squares");
  add_setting(command, options, "epsilon", "X", "of adam: keeps it from dividing by 0");
  add_setting(command, options, "schedule", "NAME",
              "of the learning rate: constant; step, a tenth after half of the steps, a hundredth "
              "after three quarters; cosine, down to 0");
  add_setting(command, options, "warmup", "N", "steps in which the learning rate rises");
}

void add_model_name(CLI::App& command, RunOptions& options) {
  add(command, options, "model", "NAME", list_of(model_names()), options.model.name,
      [&](const std::string& text) { options.model.name = parse_choice(text, model_names()); });
  add(command, options, "precision", "NAME", list_of(precisions), options.precision,
      [&](const std::string& text) { options.precision = parse_choice(text, precisions); });
}

/// @param are_ranks whether there are as many workers as processes.
void add_worker_options(CLI::App& command, bool are_ranks, RunOptions& options, bool trains) {
  command.option_defaults()->group("Workers");
  if (are_ranks) {
    add(command, options, "workers", "W", "every process is one", "as many as processes",
        [&](const std::string& text) { setting_of("workers").read(text, options); });
  } else {
    add_setting(command, options, "workers", "W", "share every batch among W workers");
  }
  add_setting(command, options, "average", "NAME", "of gradients or weights");
  if (!trains) return;
  add_setting(command, options, "average-every", "K", "steps between two means of weights");
}

/// @param default_dataset what is used without --dataset.
void add_common_options(CLI::App& command, const Stage& stage, RunOptions& options, Command which,
                        const std::string& default_dataset,
                        const std::string& test_limit_description) {
  command.option_defaults()->group("Data");
  add(command, options, "dataset", "NAME", list_of(dataset_names()) + ", or a path with --format",
      default_dataset, [&](const std::string& text) { options.data.name = parse_name(text); });
  add(command, options, "format", "NAME",
      "format of the file that --dataset names: " + list_of(format_names()), "",
      [&](const std::string& text) { options.data.format = parse_name(text); });
  add(command, options, "data-dir", "DIR", "folder that holds mnist/, ...",
      "STAGEWISE_DATA_DIR, else datasets",
      [&](const std::string& text) { options.data.data_dir = parse_name(text); });
  add_setting(command, options, "label", "NAME", "csv: the column that holds the class");
  add(command, options, "test-limit", "N", test_limit_description, "",
      [&](const std::string& text) { options.data.test_limit = parse_count(text, 1); });

  command.option_defaults()->group("Generated data (gaussian)");
  add_setting(command, options, "features", "N", "features of a sample");
  add_setting(command, options, "classes", "N", "classes");
  add_setting(command, options, "samples", "N", "training samples; a fifth as many for testing");
  add_setting(command, options, "spacing", "X", "between the means of neighbouring classes");
  add_setting(command, options, "deviation", "X", "of a feature around its class's mean");

  command.option_defaults()->group("Network");
  add_model_name(command, options);

  command.option_defaults()->group("Results");
  add(command, options, "report", "FILE", "write the results as JSON", "",
      [&](const std::string& text) { options.report = parse_name(text); });

  add_stage_options(command, stage, options, which);
  command.option_defaults()->group("Options");
}

/// "one, another and a third".
std::string all_of(const std::vector<std::string>& programs) {
  std::string text;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (i > 0) text += i + 1 < programs.size() ? ", " : " and ";
    text += programs[i];
  }
  return text;
}

/// The options that a program offers in addition to those of all stages.
std::vector<std::string> names_of(const Offers& offers) {
  std::vector<std::string> names;
  for (const StageOption& option : offers.options) names.push_back(option.name);
  if (!offers.has_workers) return names;
  CLI::App declared;
  declared.set_help_flag();
  RunOptions unused;
  add_worker_options(declared, false, unused, true);
  for (const CLI::Option* const option : declared.get_options()) {
    names.push_back(option->get_lnames().front());
  }
  return names;
}

/// Options of other stages are refused with a sentence that says where to find them.
void refuse_options_of_other_stages(CLI::App& command, const Stage& stage) {
  std::map<std::string, std::vector<std::string>> programs;
  for (const Offers& offers : stage.offers) {
    for (const std::string& name : names_of(offers)) programs[name].push_back(offers.program);
  }
  for (const auto& [option, offering] : programs) {
    if (command.get_option_no_throw("--" + option) != nullptr) continue;
    // This stage already says what it offers elsewhere.
    if (std::find(offering.begin(), offering.end(), stage.program) != offering.end()) continue;
    refuse(command, option,
           "--" + option + " is offered by " + all_of(offering) + ", not by " + stage.program);
  }
}

/// What `evaluate` and `predict` have in common.
/// @param purpose of the checkpoint: "to evaluate".
void add_network_options(CLI::App& command, const Stage& stage, RunOptions& options, Command which,
                         const std::string& purpose) {
  add_common_options(command, stage, options, which, "the checkpoint's",
                     "use the first N test samples");
  command.option_defaults()->group("Network");
  add(command, options, "load", "FILE", "the checkpoint " + purpose, "",
      [&](const std::string& text) { options.load = parse_name(text); })
      ->required();
  add_setting(command, options, "batch-size", "N", "samples at a time");
}

}  // namespace

void add_train_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  add_common_options(command, stage, options, Command::train,
                     options.data.name + "; with --load or --resume the checkpoint's",
                     "use the first N test samples; --resume does not remember it");

  command.option_defaults()->group("Data");
  add(command, options, "train-limit", "N", "use the first N training samples", "",
      [&](const std::string& text) { options.data.train_limit = parse_count(text, 1); });
  add_setting(command, options, "validation", "N", "hold out the last N training samples");

  command.option_defaults()->group("Network");
  add_model_options(command, options);

  command.option_defaults()->group("Training");
  add_setting(
      command, options, "batch-size", "N",
      stage.ranks == nullptr ? "samples a step" : "samples a step, of all processes together");
  add(command, options, "epochs", "N",
      "passes through the data; with --resume the total, those done before included",
      std::to_string(options.training.epochs) + "; with --resume the checkpoint's",
      [&](const std::string& text) { options.training.epochs = parse_epochs(text); });
  add(command, options, "learning-rate", "X", "how far a step goes",
      "0.15, with squared-error 0.1; momentum a tenth of it; adam 0.001",
      [&](const std::string& text) { setting_of("learning-rate").read(text, options); });
  add_optimizer_options(command, options);
  add_setting(command, options, "l2", "X", "weight decay");
  add(command, options, "seed", "N", "of initial weights and sample order",
      std::to_string(options.training.seed),
      [&](const std::string& text) { options.training.seed = parse_seed(text); });
  add_setting(command, options, "shuffle", "on|off", "new sample order in every epoch");

  if (stage.has_workers) add_worker_options(command, stage.ranks != nullptr, options, true);

  command.option_defaults()->group("Checkpoints");
  add(command, options, "load", "FILE", "start from these parameters", "",
      [&](const std::string& text) { options.load = parse_name(text); });
  add(command, options, "save", "FILE", "write a checkpoint at the end", "",
      [&](const std::string& text) { options.save = parse_name(text); });
  add(command, options, "save-every", "K", "and also every K epochs", "",
      [&](const std::string& text) { options.save_every = parse_count(text, 1); });
  add(command, options, "save-best", "FILE",
      "write a checkpoint after each epoch that is best on the validation set", "",
      [&](const std::string& text) { options.save_best = parse_name(text); });
  add(command, options, "resume", "FILE", "continue exactly where this checkpoint stopped", "",
      [&](const std::string& text) { options.resume = parse_name(text); });

  command.option_defaults()->group("Results");
  add(command, options, "log-every", "K", "report every K steps, too", "",
      [&](const std::string& text) { options.training.log_every = parse_count(text, 1); });
  add(command, options, "csv", "FILE",
      "write the reports of the epochs, or of --log-every, as CSV; --resume adds to it", "",
      [&](const std::string& text) { options.csv = parse_name(text); });
  command.add_flag("--timings", options.timings, "print a table of time per operation")
      ->disable_flag_override();
  command
      .add_flag("--explain", options.explain,
                "print what limits each operation, and how far from that limit it is")
      ->disable_flag_override();
  refuse_options_of_other_stages(command, stage);
}

void add_program_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  command.option_defaults()->group("With --program");
  add_model_name(command, options);
  add_model_options(command, options);
  add_setting(command, options, "batch-size", "N", "samples a step");
  add_setting(command, options, "optimizer", "NAME", "sgd, momentum, adam");
  if (stage.has_workers) add_worker_options(command, stage.ranks != nullptr, options, false);
  add_stage_options(command, stage, options, Command::info);
}

void add_evaluate_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  add_network_options(command, stage, options, Command::evaluate, "to evaluate");
  command.option_defaults()->group("Results");
  command
      .add_flag("--confusion", options.confusion,
                "print which classes are taken for which; precision and recall")
      ->disable_flag_override();
  add(command, options, "mistakes", "N", "show the N most confident wrong answers", "",
      [&](const std::string& text) { options.mistakes = parse_count(text, 1); });
  add(command, options, "csv", "FILE", "with --confusion: write the matrix as CSV", "",
      [&](const std::string& text) { options.csv = parse_name(text); });
  command.add_flag("--latency", options.latency, "measure how long one batch takes")
      ->disable_flag_override();
  refuse_options_of_other_stages(command, stage);
}

void add_predict_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  options.data.needs_labels = false;
  add_network_options(command, stage, options, Command::predict, "to predict with");
  command.option_defaults()->group("One sample");
  add(command, options, "image", "FILE", "predict this picture, PNG or PGM, and draw it", "",
      [&](const std::string& text) { options.image = parse_name(text); });
  add(command, options, "background", "NAME", "of the picture: auto, light, dark", "auto",
      [&](const std::string& text) {
        const std::string name = parse_choice(text, {"auto", "light", "dark"});
        options.background = name == "auto"    ? Background::automatic
                             : name == "light" ? Background::light
                                               : Background::dark;
      });
  add(command, options, "sample", "I", "predict sample I of the data, from 0, and draw it", "",
      [&](const std::string& text) { options.sample = parse_count(text, 0); });
  command.option_defaults()->group("Results");
  add(command, options, "csv", "FILE", "write the predictions as CSV", "",
      [&](const std::string& text) { options.csv = parse_name(text); });
  refuse_options_of_other_stages(command, stage);
}

}  // namespace stagewise
