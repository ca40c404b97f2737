#include <CLI/CLI.hpp>

#include "app/options.hpp"
#include "app/settings.hpp"
#include "app/values.hpp"
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

/// @param trains whether the command is `train`.
/// @param default_dataset what is used without --dataset.
void add_common_options(CLI::App& command, const Stage& stage, RunOptions& options, bool trains,
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
  add(command, options, "model", "NAME", list_of(model_names()), options.model.name,
      [&](const std::string& text) { options.model.name = parse_choice(text, model_names()); });
  add(command, options, "precision", "NAME", list_of(precisions), options.precision,
      [&](const std::string& text) { options.precision = parse_choice(text, precisions); });

  command.option_defaults()->group("Results");
  add(command, options, "report", "FILE", "write the results as JSON", "",
      [&](const std::string& text) { options.report = parse_name(text); });

  options.program = stage.program;
  options.stage_why_idle = stage.why_idle;
  command.option_defaults()->group("This stage");
  for (const StageOption& option : stage.options) {
    options.stage[option.name] = option.default_choice;
    options.stage_options[option.name] = option;
    if (option.only_trains && !trains) {
      refuse(command, option.name,
             "--" + option.name + " is for train: evaluate has no use for it");
      continue;
    }
    CLI::Option* const declared =
        add(command, options, option.name, "NAME",
            option.description + ": " + list_of(option.choices) +
                (option.choice_without_value.empty()
                     ? ""
                     : "; alone it means " + option.choice_without_value),
            option.default_choice, [&options, option](const std::string& text) {
              const bool is_alone = text.empty() && !option.choice_without_value.empty();
              options.stage[option.name] =
                  is_alone ? option.choice_without_value : parse_choice(text, option.choices);
            });
    if (!option.choice_without_value.empty()) declared->expected(0, 1);
  }
  command.option_defaults()->group("Options");
}

/// Options of other stages are refused with a sentence that says where to find them.
void refuse_options_of_other_stages(CLI::App& command, const Stage& stage) {
  const std::string stages_of_steps = "stage04_minibatch and stage05_mpi";
  const std::string stages_of_workers = "stage01_serial, stage04_minibatch and stage05_mpi";
  const std::vector<std::pair<std::string, std::string>> elsewhere = {
      {"block-size", "stage02_naive_cuda"},
      {"memory", "stage02_naive_cuda"},
      {"gemm", "stage01_serial and stage03_shared_memory"},
      {"reduce", "stage03_shared_memory"},
      {"convolution", "stage03_shared_memory"},
      {"fold-bias", "stage03_shared_memory"},
      {"stream-batches", stages_of_steps},
      {"gather", stages_of_steps},
      {"fuse", stages_of_steps},
      {"capture", stages_of_steps},
      {"workers", stages_of_workers},
      {"average", stages_of_workers},
      {"average-every", stages_of_workers},
      {"strategy", "stage05_mpi"},
      {"transport", "stage05_mpi"},
      {"no-overlap", "stage05_mpi"},
      {"data-from", "stage05_mpi"},
  };
  for (const auto& [name, stages] : elsewhere) {
    if (command.get_option_no_throw("--" + name) != nullptr) continue;
    const bool is_offered_by_train = stage.has_workers && stages == stages_of_workers;
    if (is_offered_by_train) continue;
    refuse(command, name, "--" + name + " is offered by " + stages + ", not by " + stage.program);
  }
}

}  // namespace
void add_train_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  add_common_options(command, stage, options, true,
                     options.data.name + "; with --load or --resume the checkpoint's",
                     "use the first N test samples; --resume does not remember it");

  command.option_defaults()->group("Data");
  add(command, options, "train-limit", "N", "use the first N training samples", "",
      [&](const std::string& text) { options.data.train_limit = parse_count(text, 1); });
  add_setting(command, options, "validation", "N", "hold out the last N training samples");

  command.option_defaults()->group("Network");
  add_setting(command, options, "hidden", "LIST", "widths of the hidden layers; none for none");
  add_setting(command, options, "activation", "NAME", "relu, sigmoid");
  add_setting(command, options, "loss", "NAME", "cross-entropy, squared-error");
  add_setting(command, options, "biases", "on|off", "whether layers have biases");

  command.option_defaults()->group("Training");
  add_setting(
      command, options, "batch-size", "N",
      stage.ranks == nullptr ? "samples a step" : "samples a step, of all processes together");
  add(command, options, "epochs", "N",
      "passes through the data; with --resume the total, those done before included",
      std::to_string(options.training.epochs) + "; with --resume the checkpoint's",
      [&](const std::string& text) { options.training.epochs = parse_epochs(text); });
  add_setting(command, options, "learning-rate", "X", "how far a step goes");
  add_setting(command, options, "l2", "X", "weight decay");
  add(command, options, "seed", "N", "of initial weights and sample order",
      std::to_string(options.training.seed),
      [&](const std::string& text) { options.training.seed = parse_seed(text); });
  add_setting(command, options, "shuffle", "on|off", "new sample order in every epoch");

  if (stage.has_workers) {
    command.option_defaults()->group("Workers");
    if (stage.ranks != nullptr) {
      add(command, options, "workers", "W", "every process is one", "as many as processes",
          [&](const std::string& text) { setting_of("workers").read(text, options); });
    } else {
      add_setting(command, options, "workers", "W", "share every batch among W workers");
    }
    add_setting(command, options, "average", "NAME", "of gradients or weights");
    add_setting(command, options, "average-every", "K", "steps between two means of weights");
  }

  command.option_defaults()->group("Checkpoints");
  add(command, options, "load", "FILE", "start from these parameters", "",
      [&](const std::string& text) { options.load = parse_name(text); });
  add(command, options, "save", "FILE", "write a checkpoint at the end", "",
      [&](const std::string& text) { options.save = parse_name(text); });
  add(command, options, "save-every", "K", "and also every K epochs", "",
      [&](const std::string& text) { options.save_every = parse_count(text, 1); });
  add(command, options, "resume", "FILE", "continue exactly where this checkpoint stopped", "",
      [&](const std::string& text) { options.resume = parse_name(text); });

  command.option_defaults()->group("Results");
  command.add_flag("--timings", options.timings, "print a table of time per operation")
      ->disable_flag_override();
  refuse_options_of_other_stages(command, stage);
}

void add_evaluate_options(CLI::App& command, const Stage& stage, RunOptions& options) {
  add_common_options(command, stage, options, false, "the checkpoint's",
                     "use the first N test samples");
  command.option_defaults()->group("Network");
  add(command, options, "load", "FILE", "the checkpoint to evaluate", "",
      [&](const std::string& text) { options.load = parse_name(text); })
      ->required();
  add_setting(command, options, "batch-size", "N", "samples at a time");
  command.option_defaults()->group("Results");
  command.add_flag("--latency", options.latency, "measure how long one batch takes")
      ->disable_flag_override();
  refuse_options_of_other_stages(command, stage);
}

}  // namespace stagewise
