#include "app/options.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <system_error>
#include <vector>

#include "app/same_data.hpp"
#include "app/settings.hpp"
#include "app/table_encoding.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

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
    const auto found = checkpoint.settings.find(setting.name);
    const std::string stored =
        found == checkpoint.settings.end() ? setting.if_absent : found->second;
    if (found == checkpoint.settings.end() && stored.empty()) continue;
    if (setting.name == "workers" && options.ranks_are_workers) continue;
    // One file can be named in many ways; that its data fit is checked when they are loaded.
    if (setting.name == "dataset" && !options.data.format.empty() &&
        options.given.contains("dataset")) {
      continue;
    }
    adopt(setting.name, setting.write(options), stored, file, options, remedy,
          [&] { setting.read(stored, options); });
  }
}

/// @throws Error if the checkpoint lacks a setting that has an effect on its training, or the
///         command line has one that would have an effect only from here on.
void expect_complete(const Checkpoint& checkpoint, const std::filesystem::path& file,
                     RunOptions& options, const std::string& remedy) {
  std::vector<std::string> missing = checkpoint.missing;
  for (const Setting& setting : settings()) {
    if (checkpoint.settings.contains(setting.name) || !setting.if_absent.empty()) continue;
    // How many workers the ranks are is not known yet.
    const bool waits = options.ranks_are_workers && setting.name.starts_with("average");
    const bool is_idle = !why_idle(setting.name, options).empty();
    if (setting.idle && options.given.contains(setting.name)) {
      if (is_idle && !waits) continue;  // drop_idle_options() says so
      adopt(setting.name, setting.write(options), "", file, options, remedy, [] {});
    } else if (!is_idle) {
      missing.push_back(setting.name);
    }
  }
  if (!missing.empty()) {
    throw Error("the checkpoint " + file.string() + " does not say its " + list_of(missing) +
                ", so its training cannot be resumed; start a new one from its parameters with "
                "--load");
  }
}

}  // namespace

std::map<std::string, std::string> settings_of(const RunOptions& options) {
  std::map<std::string, std::string> result;
  for (const Setting& setting : settings()) {
    // A training that goes on alone for a while may go on among several again.
    const bool waits = options.ranks_are_workers && options.adopted.contains(setting.name);
    if (waits || why_idle(setting.name, options).empty()) {
      result[setting.name] = setting.write(options);
    }
  }
  std::vector<Index> sample;
  for (int i = 0; i < options.model.sample.rank(); ++i) sample.push_back(options.model.sample[i]);
  result["sample-shape"] = list(sample);
  result["class-count"] = std::to_string(options.model.classes);
  for (const auto& [name, value] : options.stage) {
    if (why_idle(name, options).empty()) result[options.program + "." + name] = value;
  }
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

std::string parse_stage_option(const std::string& text, const StageOption& option) {
  if (option.largest == 0) return parse_choice(text, option.choices);
  return std::to_string(parse_count(text, 1, option.largest));
}

void adopt_training(const Checkpoint& checkpoint, const std::filesystem::path& file,
                    RunOptions& options) {
  if (checkpoint.model.empty() || !checkpoint.settings.contains("batch-size")) {
    throw Error("the checkpoint " + file.string() +
                " does not say how it was trained, so its training cannot be resumed; start a new "
                "one from its parameters with --load");
  }
  const std::string remedy =
      "leave the option out, or start a new training from these parameters with --load";
  adopt_model(checkpoint, file, options);
  adopt_settings(false, checkpoint, file, options, remedy);
  for (auto& [name, value] : options.stage) {  // only this stage knows what these mean
    const auto stored = checkpoint.settings.find(options.program + "." + name);
    if (stored == checkpoint.settings.end()) continue;
    const StageOption& option = options.stage_options.at(name);
    if (option.changes_no_number && options.given.contains(name)) continue;
    if (value == "auto") options.given.erase(name);  // what it was when training began
    adopt(name, value, stored->second, file, options, remedy,
          [&, &value = value] { value = parse_stage_option(stored->second, option); });
  }
  expect_complete(checkpoint, file, options, remedy);
  if (!options.given.contains("epochs")) {
    const auto epochs = checkpoint.settings.find("epochs");
    if (epochs == checkpoint.settings.end()) {
      throw UsageError("--epochs is needed: the checkpoint " + file.string() +
                       " does not say how many epochs its training was to have");
    }
    adopt("epochs", "", epochs->second, file, options, "",
          [&] { options.training.epochs = parse_epochs(epochs->second); });
  }
  adopt("seed", std::to_string(options.training.seed), std::to_string(checkpoint.seed), file,
        options, remedy, [&] { options.training.seed = checkpoint.seed; });
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

void settle(const Stage& stage, RunOptions& options, int ranks) {
  if (stage.settle) {
    stage.settle(options.stage, options.model, options.workers, options.training.batch_size, ranks);
  }
  const int count = stage.workers_by_ranks(options.stage);
  if (count == 0) return;
  if (options.given.contains("workers") && options.workers.workers != count) {
    if (count == 1) {
      throw UsageError("--workers " + std::to_string(options.workers.workers) +
                       " takes as many processes, and there is one: start them with mpirun -n " +
                       std::to_string(options.workers.workers));
    }
    throw UsageError("--workers " + std::to_string(options.workers.workers) +
                     " contradicts the number of processes, each of which is a worker: mpirun has "
                     "started " +
                     with_thousands(count));
  }
  options.workers.workers = count;
}

void drop_idle_options(const Stage& stage, RunOptions& options) {
  std::map<std::string, std::string> reasons;
  for (const std::string& name : options.given) {
    const std::string reason = why_idle(name, options);
    if (reason.empty()) continue;
    if (is_contradicted(name, options)) throw UsageError("--" + name + " " + reason);
    reasons[name] = reason;
  }
  for (const auto& [name, reason] : reasons) {
    options.given.erase(name);
    set_default(name, options);
    if (stage.is_first_rank()) note_idle(stage.program, name, reason);
  }
}

void check_precision(const RunOptions& options) {
  if (options.precision != "float") return;
  const auto check = [](const char* option, double value) {
    const bool is_infinite = value > static_cast<double>(std::numeric_limits<float>::max());
    if (!is_infinite && (value == 0 || static_cast<float>(value) != 0)) return;
    throw OptionError(std::string("--") + option + " " + shortest(value) + " is " +
                          (is_infinite ? "infinite" : "0") +
                          " in float; choose another, or --precision double",
                      {option, "precision"});
  };
  check("learning-rate", options.training.sgd.learning_rate);
  check("l2", options.training.sgd.l2);
  check("epsilon", options.training.sgd.epsilon);
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
