#include "app/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <system_error>
#include <vector>

#include "app/same_data.hpp"
#include "app/table_encoding.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

// ------------------------------------------------------------------ values and their written form

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<Index> parse_hidden(const std::string& text) {
  std::vector<Index> widths;
  if (text.empty() || text == "none" || text == "0") return widths;
  constexpr Index widest = 1 << 24;
  const std::string expected = "; expected are the widths of the layers, such as 256,128, or none";
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) {
      throw UsageError(in_quotes(text) + " has a comma with no width on one side of it" + expected);
    }
    try {
      widths.push_back(parse_count(part, 1, widest));
    } catch (const UsageError& error) {
      throw UsageError(error.what() + expected);
    }
  }
  return widths;
}

std::string list(const std::vector<Index>& numbers) {
  if (numbers.empty()) return "none";
  std::vector<std::string> names;
  for (const Index number : numbers) names.push_back(std::to_string(number));
  return list_of(names, ",");
}

// ----------------------------------------------------------------------------- a table of settings

/// A setting that a checkpoint stores and an option of the same name sets.
struct Setting {
  std::string name;
  bool of_network;  ///< part of the network, or of its training
  std::function<std::string(const RunOptions&)> write;
  std::function<void(const std::string&, RunOptions&)> read;
};

const std::vector<std::string> precisions = {"float", "double"};

std::string write_optional(const std::optional<Index>& value) {
  return value ? std::to_string(*value) : "all";
}

std::int64_t parse_epochs(const std::string& text) {
  constexpr std::int64_t most = 1'000'000'000;  // so that a count of steps stays a number
  return parse_count(text, 0, most);
}

std::optional<Index> read_optional(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_count(text, 1);
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = {
      {"hidden", true, [](const auto& o) { return list(o.model.hidden); },
       [](const auto& text, auto& o) { o.model.hidden = parse_hidden(text); }},
      {"activation", true, [](const auto& o) { return to_string(o.model.activation); },
       [](const auto& text, auto& o) { o.model.activation = parse_activation(text); }},
      {"biases", true, [](const auto& o) { return o.model.biases ? "on" : "off"; },
       [](const auto& text, auto& o) { o.model.biases = parse_switch(text); }},
      {"loss", true, [](const auto& o) { return to_string(o.model.loss); },
       [](const auto& text, auto& o) { o.model.loss = parse_loss(text); }},
      {"dataset", false, [](const auto& o) { return o.data.name; },
       [](const auto& text, auto& o) { o.data.name = text; }},
      {"format", false, [](const auto& o) { return o.data.format; },
       [](const auto& text, auto& o) { o.data.format = text; }},
      {"train-limit", false, [](const auto& o) { return write_optional(o.data.train_limit); },
       [](const auto& text, auto& o) { o.data.train_limit = read_optional(text); }},
      {"validation", false, [](const auto& o) { return std::to_string(o.data.validation); },
       [](const auto& text, auto& o) { o.data.validation = parse_count(text, 0); }},
      {"batch-size", false, [](const auto& o) { return std::to_string(o.training.batch_size); },
       [](const auto& text, auto& o) { o.training.batch_size = parse_count(text, 1); }},
      {"learning-rate", false, [](const auto& o) { return shortest(o.training.sgd.learning_rate); },
       [](const auto& text, auto& o) { o.training.sgd.learning_rate = parse_real(text, false); }},
      {"l2", false, [](const auto& o) { return shortest(o.training.sgd.l2); },
       [](const auto& text, auto& o) { o.training.sgd.l2 = parse_real(text, true); }},
      {"workers", false, [](const auto& o) { return std::to_string(o.workers.workers); },
       [](const auto& text, auto& o) {
         constexpr std::int64_t most = 1 << 16;
         o.workers.workers = static_cast<int>(parse_count(text, 1, most));
       }},
      {"average", false,
       [](const auto& o) {
         return o.workers.average == Average::weights ? "weights" : "gradients";
       },
       [](const auto& text, auto& o) {
         o.workers.average = parse_choice(text, {"gradients", "weights"}) == "weights"
                                 ? Average::weights
                                 : Average::gradients;
       }},
      {"average-every", false,
       [](const auto& o) { return std::to_string(o.workers.average_every); },
       [](const auto& text, auto& o) { o.workers.average_every = parse_count(text, 1); }},
      {"label", false, [](const auto& o) { return o.data.label; },
       [](const auto& text, auto& o) { o.data.label = text; }},
      {"features", false, [](const auto& o) { return std::to_string(o.data.gaussian.features); },
       [](const auto& text, auto& o) { o.data.gaussian.features = parse_count(text, 1); }},
      {"classes", false, [](const auto& o) { return std::to_string(o.data.gaussian.classes); },
       [](const auto& text, auto& o) {
         constexpr std::int64_t most = 1 << 24;
         o.data.gaussian.classes = static_cast<int>(parse_count(text, 2, most));
       }},
      {"samples", false, [](const auto& o) { return std::to_string(o.data.gaussian.samples); },
       [](const auto& text, auto& o) { o.data.gaussian.samples = parse_count(text, 1); }},
      {"spacing", false, [](const auto& o) { return shortest(o.data.gaussian.spacing); },
       [](const auto& text, auto& o) { o.data.gaussian.spacing = parse_real(text, true); }},
      {"deviation", false, [](const auto& o) { return shortest(o.data.gaussian.deviation); },
       [](const auto& text, auto& o) { o.data.gaussian.deviation = parse_real(text, true); }},
      {"shuffle", false, [](const auto& o) { return o.training.shuffle ? "on" : "off"; },
       [](const auto& text, auto& o) { o.training.shuffle = parse_switch(text); }},
  };
  return table;
}

const Setting& setting_of(const std::string& name) {
  return *std::find_if(settings().begin(), settings().end(),
                       [&](const Setting& setting) { return setting.name == name; });
}

/// The options that say which generated data set "gaussian" is.
constexpr std::array<const char*, 5> gaussian_options = {"features", "classes", "samples",
                                                         "spacing", "deviation"};

/// What the checkpoint says about an option.
void adopt(const std::string& name, const std::string& written, const std::string& stored,
           const std::filesystem::path& file, RunOptions& options, const std::string& remedy,
           const std::function<void()>& take) {
  if (!options.given.contains(name)) {
    try {
      take();
      options.adopted.insert(name);
    } catch (const Error& error) {
      throw Error("the checkpoint " + file.string() + " is of no use: of its '" + name + "', " +
                  error.what());
    }
  } else if (written != stored) {
    throw Error("--" + name + " " + excerpt(written) + " contradicts the checkpoint " +
                file.string() + ", which has " + (stored.empty() ? "none" : excerpt(stored)) +
                "; " + remedy);
  }
}

void adopt_settings(bool of_network, const Checkpoint& checkpoint,
                    const std::filesystem::path& file, RunOptions& options,
                    const std::string& remedy) {
  for (const Setting& setting : settings()) {
    if (setting.of_network != of_network) continue;
    const auto stored = checkpoint.settings.find(setting.name);
    if (stored == checkpoint.settings.end()) continue;
    if (setting.name == "workers" && options.ranks_are_workers) continue;
    // One file can be named in many ways; that its data fit is checked when they are loaded.
    if (setting.name == "dataset" && !options.data.format.empty() &&
        options.given.contains("dataset")) {
      continue;
    }
    adopt(setting.name, setting.write(options), stored->second, file, options, remedy,
          [&] { setting.read(stored->second, options); });
  }
}

// ----------------------------------------------------------------------------------------- options

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

std::map<std::string, std::string> settings_of(const RunOptions& options) {
  std::map<std::string, std::string> result;
  for (const Setting& setting : settings()) result[setting.name] = setting.write(options);
  std::vector<Index> sample;
  for (int i = 0; i < options.model.sample.rank(); ++i) sample.push_back(options.model.sample[i]);
  result["sample-shape"] = list(sample);
  result["class-count"] = std::to_string(options.model.classes);
  for (const auto& [name, value] : options.stage) result[options.program + "." + name] = value;
  result["epochs"] = std::to_string(options.training.epochs);
  if (options.encoding) result["table"] = to_text(*options.encoding);
  if (options.fingerprint) add_fingerprint(*options.fingerprint, result);
  return result;
}

void adopt_model(const Checkpoint& checkpoint, const std::filesystem::path& file,
                 RunOptions& options) {
  const std::string remedy = "leave the option out, or name another checkpoint";
  if (checkpoint.model.empty()) {  // a foreign file says nothing but which parameters there are
    options.model.biases =
        std::any_of(checkpoint.parameters.begin(), checkpoint.parameters.end(),
                    [](const auto& parameter) { return parameter.name.ends_with("/bias"); });
  }
  if (!checkpoint.model.empty()) {
    adopt("model", options.model.name, checkpoint.model, file, options, remedy,
          [&] { options.model.name = parse_choice(checkpoint.model, model_names()); });
  }
  adopt("precision", options.precision, checkpoint.precision, file, options, remedy,
        [&] { options.precision = checkpoint.precision; });
  adopt_settings(true, checkpoint, file, options, remedy);
  const auto table = checkpoint.settings.find("table");
  if (table == checkpoint.settings.end()) return;
  try {
    options.encoding = parse_table_encoding(table->second);
  } catch (const Error& error) {
    throw Error("the checkpoint " + file.string() + " is of no use: " + error.what());
  }
}

void adopt_training(const Checkpoint& checkpoint, const std::filesystem::path& file,
                    RunOptions& options) {
  if (checkpoint.model.empty() || !checkpoint.settings.contains("batch-size")) {
    throw Error("the checkpoint " + file.string() +
                " does not say how it was trained, so its training cannot be resumed; start a new "
                "one from its parameters with --load");
  }
  std::vector<std::string> missing = checkpoint.missing;
  for (const Setting& setting : settings()) {
    if (!checkpoint.settings.contains(setting.name)) missing.push_back(setting.name);
  }
  if (!missing.empty()) {
    throw Error("the checkpoint " + file.string() + " does not say its " + list_of(missing) +
                ", so its training cannot be resumed; start a new one from its parameters with "
                "--load");
  }
  adopt_model(checkpoint, file, options);
  if (!options.given.contains("epochs")) {
    const auto epochs = checkpoint.settings.find("epochs");
    if (epochs == checkpoint.settings.end()) {
      throw UsageError("--epochs is needed: the checkpoint " + file.string() +
                       " does not say how many epochs its training was to have");
    }
    adopt("epochs", "", epochs->second, file, options, "",
          [&] { options.training.epochs = parse_epochs(epochs->second); });
  }
  const std::string remedy =
      "leave the option out, or start a new training from these parameters with --load";
  adopt("seed", std::to_string(options.training.seed), std::to_string(checkpoint.seed), file,
        options, remedy, [&] { options.training.seed = checkpoint.seed; });
  adopt_settings(false, checkpoint, file, options, remedy);
  for (auto& [name, value] : options.stage) {  // only this stage knows what these mean
    const auto stored = checkpoint.settings.find(options.program + "." + name);
    if (stored == checkpoint.settings.end()) continue;
    const StageOption& option = options.stage_options.at(name);
    if (option.changes_no_number && options.given.contains(name)) continue;
    adopt(name, value, stored->second, file, options, remedy,
          [&, &value = value] { value = parse_choice(stored->second, option.choices); });
  }
}

std::vector<std::string> adopt_data(const Checkpoint& checkpoint, RunOptions& options,
                                    bool trains) {
  const auto stored = [&](const std::string& name) {
    const auto found = checkpoint.settings.find(name);
    return found == checkpoint.settings.end() ? "" : found->second;
  };
  const auto take = [&](const std::string& name) {
    const auto found = checkpoint.settings.find(name);
    if (options.given.contains(name) || found == checkpoint.settings.end()) return;
    adopt(name, "", found->second, options.load, options, "",
          [&] { setting_of(name).read(found->second, options); });
  };
  if (stored("dataset").empty()) return {"the checkpoint does not say what it was trained on"};

  const bool is_given = options.given.contains("dataset");
  take("dataset");
  std::error_code ignored;
  const bool has_same_name =
      options.data.name == stored("dataset") ||
      (!stored("format").empty() &&
       std::filesystem::equivalent(options.data.name, stored("dataset"), ignored));
  if (has_same_name) take("format");
  const bool is_same = has_same_name && options.data.format == stored("format");

  // What says more about the data, where there is something to say.
  std::vector<std::string> details;
  if (is_table(options.data)) details.emplace_back("label");
  if (is_same && options.data.name == "gaussian") {
    details.assign(gaussian_options.begin(), gaussian_options.end());
  }
  std::string others;
  for (const std::string& name : details) {
    take(name);
    const std::string text = stored(name);  // empty where the option did not apply
    if (!text.empty() && setting_of(name).write(options) != text) {
      others += " --" + name + " " + text;
    }
  }

  std::vector<std::string> notes;
  if (!is_given) {
    notes.emplace_back("the data set is that of the checkpoint; --dataset names another");
  }
  if (!is_same) {
    const std::string format = stored("format").empty() ? "" : " (" + stored("format") + ")";
    notes.push_back("the network was trained on " + stored("dataset") + format);
  } else if (!others.empty()) {
    notes.push_back("the network was trained with" + others);
  } else if (!trains && is_single_file(options.data)) {
    notes.emplace_back("the network was trained on a part of this file, which is used whole here");
  }
  return notes;
}

void refuse_idle_options(const RunOptions& options) {
  const auto refuse = [&](const std::string& name, const std::string& reason) {
    if (options.given.contains(name)) throw UsageError("--" + name + " is for " + reason);
  };
  if (options.model.name == "cnn") refuse("hidden", "--model mlp: the layers of cnn are fixed");
  if (options.model.name == "mlp" && options.model.hidden.empty() &&
      options.model.loss == LossKind::cross_entropy) {
    refuse("activation", "hidden layers, and --hidden none leaves none");
  }
  if (options.model.name == "neuron") {
    const std::string reason = "--model mlp: a neuron is one sigmoid unit with a squared error";
    refuse("hidden", reason);
    refuse("biases", reason);
    if (options.model.activation != Activation::sigmoid) refuse("activation", reason);
    if (options.model.loss != LossKind::squared_error) refuse("loss", reason);
  }
  if (options.data.name != "gaussian") {
    for (const char* const name : gaussian_options) refuse(name, "--dataset gaussian");
  }
}

void check_precision(const RunOptions& options) {
  if (options.precision != "float") return;
  const auto check = [](const char* option, double value) {
    const bool is_infinite = value > static_cast<double>(std::numeric_limits<float>::max());
    if (!is_infinite && (value == 0 || static_cast<float>(value) != 0)) return;
    throw UsageError(std::string("--") + option + " " + shortest(value) + " is " +
                     (is_infinite ? "infinite" : "0") +
                     " in float; choose another, or --precision double");
  };
  check("learning-rate", options.training.sgd.learning_rate);
  check("l2", options.training.sgd.l2);
}

bool read_data_shape(const Checkpoint& checkpoint, const std::filesystem::path& file, Shape& sample,
                     int& classes) {
  const auto stored_sample = checkpoint.settings.find("sample-shape");
  const auto stored_classes = checkpoint.settings.find("class-count");
  if (stored_sample == checkpoint.settings.end() || stored_classes == checkpoint.settings.end()) {
    return false;
  }
  const std::vector<std::string> parts = split(stored_sample->second, ',');
  try {
    Shape shape;
    for (std::size_t i = parts.size(); i-- > 0;) shape = shape.batched(parse_count(parts[i], 1));
    constexpr int most = std::numeric_limits<int>::max();
    classes = static_cast<int>(parse_count(stored_classes->second, 1, most));
    sample = shape;
    return true;
  } catch (const Error&) {
    throw Error("the checkpoint " + file.string() + " is of no use: its 'sample-shape' of " +
                in_quotes(stored_sample->second) + " or its 'class-count' of " +
                in_quotes(stored_classes->second) + " is not made of whole numbers of at least 1");
  }
}

std::string describe(const ModelOptions& model) {
  const std::string inputs = std::to_string(model.sample.elements());
  if (model.name == "neuron") return "neuron " + inputs + "-1, sigmoid, squared-error";
  const std::string without = model.biases ? "" : ", no biases";
  if (model.name == "cnn") {
    return "cnn 5x5x32-5x5x64-128-" + std::to_string(model.classes) + ", " + to_string(model.loss) +
           without;
  }
  std::string text = model.name + " " + inputs;
  for (const Index width : model.hidden) text += "-" + std::to_string(width);
  text += "-" + std::to_string(model.classes);
  if (!model.hidden.empty()) text += ", " + to_string(model.activation);
  return text + ", " + to_string(model.loss) + without;
}

}  // namespace stagewise
