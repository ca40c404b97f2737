#include "cli/options.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "cli/option_table.hpp"
#include "cli/training_start.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// What the checkpoint says about the options of the table; texts that are empty say nothing.
std::map<std::string, std::string> options_in(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> stored = checkpoint.settings;
  stored["model"] = checkpoint.model;
  stored["precision"] = checkpoint.precision;
  stored["seed"] = std::to_string(checkpoint.seed);
  for (const std::string& name : checkpoint.missing) stored.erase(name);
  std::erase_if(stored, [](const auto& option) { return option.second.empty(); });
  return stored;
}

/// Takes over those options that are not on the command line.
/// @param is_meant of an Option.
/// @throws Error if another network is on the command line than in the checkpoint.
template <typename IsMeant>
void adopt_options(const Checkpoint& checkpoint, const fs::path& file, RunOptions& options, const IsMeant& is_meant) {
  const std::map<std::string, std::string> stored = options_in(checkpoint);
  for (const Option& option : options.options) {
    if (option.kept == Kept::no || !is_meant(option)) continue;
    const auto found = stored.find(option.stored_as.empty() ? option.name : option.stored_as);
    const std::string text = found == stored.end() ? option.if_absent : found->second;
    if (text.empty()) continue;
    if (!options.given.contains(option.name)) {
      try {
        option.read(text, options);
      } catch (const Error& error) {
        throw Error("the checkpoint " + file.string() + " is of no use: of its '" + option.name + "', " + error.what());
      }
      options.adopted.insert(option.name);
    } else if (option.kept == Kept::of_network && option.write(options) != text) {
      throw Error("--" + option.name + " " + excerpt(option.write(options)) + " contradicts the checkpoint " +
                  file.string() + ", which has " + excerpt(text) +
                  "; leave the option out, or name another checkpoint");
    }
  }
}

/// @throws UsageError for an option on the command line that is the checkpoint's to say. One of
/// another stage does not
///         know of this stage's own.
void expect_not_decided(const Checkpoint& checkpoint, const fs::path& file, const RunOptions& options) {
  for (const Option& option : options.options) {
    const bool is_known = option.stored_as.empty() || checkpoint.settings.contains(option.stored_as);
    const bool is_decided = option.kept == Kept::of_training || option.kept == Kept::of_network;
    if (!is_known || !is_decided || !options.given.contains(option.name)) continue;
    throw UsageError("--" + option.name + " cannot be given with --resume: the checkpoint " + file.string() +
                     " decides how its training continues; leave the option out, or start a new "
                     "training from these parameters with --load");
  }
}

/// @throws Error if the checkpoint lacks a setting that has an effect on its training.
void expect_complete(const Checkpoint& checkpoint, const fs::path& file, const RunOptions& options) {
  std::vector<std::string> missing = checkpoint.missing;
  for (const Option& option : options.options) {
    const bool is_said =
        options.adopted.contains(option.name) || options.given.contains(option.name) || option.name == "seed";
    if (option.kept == Kept::no || is_said || !why_idle(option, options).empty()) continue;
    if (option.name == "workers" && options.ranks_are_workers) continue;
    // Other data; check_data() says what differs.
    const bool is_of_data = option.kept == Kept::of_training && (option.commands & for_predict) != 0;
    if (is_of_data && options.given.contains("dataset")) continue;
    missing.push_back(option.name);
  }
  if (missing == std::vector<std::string>{"epochs"}) {
    throw UsageError("--epochs is needed: the checkpoint " + file.string() +
                     " does not say how many epochs its training was to have");
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
  for (const Option& option : options.options) {
    // A training that goes on alone for a while may go on among several again.
    const bool waits =
        options.ranks_are_workers && options.adopted.contains(option.name) && option.name.starts_with("average");
    if (option.kept != Kept::no && (waits || why_idle(option, options).empty())) {
      result[option.stored_as.empty() ? option.name : option.stored_as] = option.write(options);
    }
  }
  for (const char* const own_attribute : {"model", "precision", "seed"}) result.erase(own_attribute);
  std::vector<Index> sample;
  for (int i = 0; i < options.model.sample.rank(); ++i) sample.push_back(options.model.sample[i]);
  result["sample-shape"] = list(sample);
  result["class-count"] = std::to_string(options.model.classes);
  if (options.encoding) result["table"] = to_text(*options.encoding);
  if (options.fingerprint) add_fingerprint(*options.fingerprint, result);
  return result;
}

void adopt_model(const Checkpoint& checkpoint, const fs::path& file, RunOptions& options) {
  if (checkpoint.model.empty()) {  // a foreign file says nothing but which parameters there are
    options.model.biases = std::any_of(checkpoint.parameters.begin(), checkpoint.parameters.end(),
                                       [](const auto& parameter) { return parameter.name.ends_with("/bias"); });
  }
  adopt_options(checkpoint, file, options, [](const Option& option) { return option.kept == Kept::of_network; });
  const auto table = checkpoint.settings.find("table");
  if (table == checkpoint.settings.end()) return;
  try {
    options.encoding = parse_table_encoding(table->second);
  } catch (const Error& error) {
    throw Error("the checkpoint " + file.string() + " is of no use: " + error.what());
  }
}

void adopt_training(const Checkpoint& checkpoint, const fs::path& file, RunOptions& options) {
  expect_not_decided(checkpoint, file, options);
  if (checkpoint.model.empty() || !checkpoint.settings.contains("batch-size")) {
    throw Error("the checkpoint " + file.string() +
                " does not say how it was trained, so its training cannot be resumed; start a new "
                "one from its parameters with --load");
  }
  adopt_model(checkpoint, file, options);
  adopt_options(checkpoint, file, options, [&](const Option& option) {
    return option.kept != Kept::of_network && !(option.name == "workers" && options.ranks_are_workers);
  });
  expect_complete(checkpoint, file, options);
}

std::vector<std::string> adopt_data(const Checkpoint& checkpoint, RunOptions& options, bool trains) {
  std::map<std::string, std::string> stored = options_in(checkpoint);
  const auto take = [&](const std::set<std::string>& names) {
    adopt_options(checkpoint, options.load, options, [&](const Option& option) { return names.contains(option.name); });
  };
  if (stored["dataset"].empty()) return {"the checkpoint does not say what it was trained on"};

  take({"dataset"});
  std::error_code ignored;
  const bool has_same_name =
      options.data.name == stored["dataset"] ||
      (!stored["format"].empty() && fs::equivalent(options.data.name, stored["dataset"], ignored));
  if (has_same_name) take({"format"});
  const bool is_same = has_same_name && options.data.format == stored["format"];

  // What says more about the data, where there is something to say.
  std::set<std::string> details;
  if (is_table(options.data)) details = {"label"};
  if (is_hdf5(options.data)) details = {"x", "y"};
  if (is_same && options.data.name == "gaussian") {
    details = {"features", "classes", "samples", "spacing", "deviation"};
  }
  take(details);
  std::string others;
  for (const Option& option : options.options) {
    const std::string& text = stored[option.name];  // empty where the option did not apply
    if (details.contains(option.name) && !text.empty() && option.write(options) != text) {
      others += " --" + option.name + " " + text;
    }
  }

  std::vector<std::string> notes;
  if (!options.given.contains("dataset")) {
    notes.emplace_back("the data set is that of the checkpoint; --dataset names another");
  }
  if (!is_same) {
    const std::string format = stored["format"].empty() ? "" : " (" + stored["format"] + ")";
    notes.push_back("the network was trained on " + stored["dataset"] + format);
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
    const std::string wanted = std::to_string(options.workers.workers);
    throw UsageError("--workers " + wanted +
                     (count == 1 ? " takes as many processes, and there is one: start them with "
                                   "mpirun -n " +
                                       wanted
                                 : " contradicts the number of processes, each of which is a "
                                   "worker: mpirun has started " +
                                       with_thousands(count)));
  }
  options.workers.workers = count;
}

void drop_idle_options(const Stage& stage, RunOptions& options) {
  for (const Option& option : options.options) {
    if (!options.given.contains(option.name)) continue;
    const std::string reason = why_idle(option, options);
    if (reason.empty()) continue;
    const bool is_own = !option.stored_as.empty();
    if (is_own ? option.insists == option.write(options) : option.kept == Kept::of_network || !options.image.empty()) {
      throw UsageError("--" + option.name + " " + reason);
    }
    options.given.erase(option.name);
    option.reset(options);
    if (stage.is_first_rank()) note_idle(stage.program, option.name, reason);
  }
}

void check_precision(const RunOptions& options) {
  if (options.precision != "float") return;
  const auto check = [](const char* option, double value) {
    const bool is_infinite = value > static_cast<double>(std::numeric_limits<float>::max());
    if (!is_infinite && (value == 0 || static_cast<float>(value) != 0)) return;
    throw OptionError(std::string("--") + option + " " + shortest(value) + " is " + (is_infinite ? "infinite" : "0") +
                          " in float; choose another, or --precision double",
                      {option, "precision"});
  };
  check("learning-rate", options.training.sgd.learning_rate);
  check("l2", options.training.sgd.l2);
  check("epsilon", options.training.sgd.epsilon);
}

std::optional<DataShape> read_data_shape(const Checkpoint& checkpoint, const fs::path& file) {
  const auto sample = checkpoint.settings.find("sample-shape");
  const auto classes = checkpoint.settings.find("class-count");
  if (sample == checkpoint.settings.end() || classes == checkpoint.settings.end()) return {};
  const std::vector<std::string> parts = split(sample->second, ',');
  try {
    constexpr int most = std::numeric_limits<int>::max();
    DataShape shape = {{}, static_cast<int>(parse_count(classes->second, 1, most))};
    for (std::size_t i = parts.size(); i-- > 0;) {
      shape.sample = shape.sample.batched(parse_count(parts[i], 1));
    }
    return shape;
  } catch (const Error&) {
    throw Error("the checkpoint " + file.string() + " is of no use: its 'sample-shape' of " +
                in_quotes(sample->second) + " or its 'class-count' of " + in_quotes(classes->second) +
                " is not made of whole numbers of at least 1");
  }
}

std::string describe(const ModelOptions& model) {
  const std::string inputs = std::to_string(model.sample.elements());
  if (model.name == "neuron") return "neuron " + inputs + "-1, sigmoid, squared-error";
  const std::string without = model.biases ? "" : ", no biases";
  if (model.name == "cnn") {
    return "cnn 5x5x32-5x5x64-128-" + std::to_string(model.classes) + ", " + to_string(model.loss) + without;
  }
  std::string text = model.name + " " + inputs;
  for (const Index width : model.hidden) text += "-" + std::to_string(width);
  text += "-" + std::to_string(model.classes);
  if (!model.hidden.empty()) text += ", " + to_string(model.activation);
  return text + ", " + to_string(model.loss) + without;
}

}  // namespace stagewise
