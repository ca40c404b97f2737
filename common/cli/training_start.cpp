#include "cli/training_start.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

#include "network/initialize.hpp"
#include "tensor/counts.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// What differs, each as "the number of classes is 3 and was 2".
using Differences = std::vector<std::string>;

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

void compare(const std::string& what, const std::string& now, const std::string& then, Differences& differences) {
  if (now != then) differences.push_back(what + " is " + now + " and was " + then);
}

/// Of lists of names: how many there are, or the first that is another.
/// @param first the number of the first.
void compare_names(const std::string& singular, const std::string& plural, std::size_t first,
                   const std::vector<std::string>& now, const std::vector<std::string>& then,
                   Differences& differences) {
  compare("the number of " + plural, std::to_string(now.size()), std::to_string(then.size()), differences);
  if (now.size() != then.size()) return;
  const auto [a, b] = std::mismatch(now.begin(), now.end(), then.begin());
  if (a == now.end()) return;
  const std::string place = std::to_string(first + static_cast<std::size_t>(a - now.begin()));
  compare(singular + " " + place, in_quotes(*a), in_quotes(*b), differences);
}

/// What the parameters depend on: which input is which, and which output.
Differences compare_meaning(const Checkpoint& checkpoint, const std::filesystem::path& file, const Split& data) {
  Differences differences;
  const auto table = checkpoint.settings.find("table");
  if (table != checkpoint.settings.end() && data.encoding) {
    const TableEncoding then = parse_table_encoding(table->second);
    compare_names("column", "columns", 1, data.encoding->features, then.features, differences);
    compare_names("class", "classes", 0, data.encoding->classes, then.classes, differences);
  } else if (const auto then = read_data_shape(checkpoint, file)) {
    compare("the shape of a sample", data.train.sample_shape().to_string(), then->sample.to_string(), differences);
    compare("the number of classes", std::to_string(data.train.classes()), std::to_string(then->classes), differences);
  }
  return differences;
}

/// What the parameters have been trained on.
Differences compare_contents(const Checkpoint& checkpoint, const Split& data) {
  std::map<std::string, std::string> now;
  add_fingerprint(*data.fingerprint, now);
  const std::map<std::string, std::string>& then = checkpoint.settings;
  const auto differs = [&](const char* name) { return then.contains(name) && then.at(name) != now.at(name); };
  Differences differences;
  if (differs("data-preparation")) {
    differences.push_back("features are " + now.at("data-preparation") + " and were " + then.at("data-preparation"));
  }
  if (differs("data-samples")) {
    compare("the number of training samples", now.at("data-samples"), excerpt(then.at("data-samples")), differences);
    return differences;
  }
  if (differs("data-values")) differences.emplace_back("the samples have other values");
  if (differs("data-labels")) differences.emplace_back("the samples have other labels");
  return differences;
}

}  // namespace

TrainingStart read_start(const Stage& stage, RunOptions& options) {
  TrainingStart start{.file = options.resume.empty() ? options.load : options.resume};
  if (!start.is_given()) return start;
  start.checkpoint = load_checkpoint(start.file);
  stage.all_ranks().expect_same(start.source(), checksum_of(start.checkpoint));
  expect_finite(start.checkpoint, start.source());
  if (options.resume.empty()) {
    adopt_model(start.checkpoint, start.file, options);
  } else {
    with_adopted(options, start.file, [&] { adopt_training(start.checkpoint, start.file, options); });
  }
  return start;
}

void add_fingerprint(const Fingerprint& fingerprint, std::map<std::string, std::string>& settings) {
  settings["data-samples"] = std::to_string(fingerprint.samples);
  settings["data-preparation"] = fingerprint.preparation;
  settings["data-values"] = hexadecimal(fingerprint.values);
  settings["data-labels"] = hexadecimal(fingerprint.labels);
}

std::vector<std::string> check_data(const Checkpoint& checkpoint, const RunOptions& options, const Split& data) {
  if (!data.fingerprint) return {};
  Differences meaning = compare_meaning(checkpoint, options.resume.empty() ? options.load : options.resume, data);
  const Differences contents = compare_contents(checkpoint, data);
  if (!options.resume.empty()) {
    meaning.insert(meaning.end(), contents.begin(), contents.end());
    if (!meaning.empty()) {
      throw Error("the checkpoint " + options.resume.string() + " was trained on other data than " + options.data.name +
                  ": " + list_of(meaning));
    }
    if (checkpoint.settings.contains("data-values")) return {};
    return {"the checkpoint does not say what data it was trained on, so they may differ"};
  }
  if (!meaning.empty()) {
    throw Error("the parameters of the checkpoint " + options.load.string() + " do not fit " + options.data.name +
                ": " + list_of(meaning));
  }
  if (contents.empty()) return {};
  return {"the network was trained on other data: " + list_of(contents)};
}

void with_adopted(const RunOptions& options, const std::filesystem::path& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const OptionError& error) {
    std::vector<std::string> attributes;
    for (const std::string& name : error.options()) {
      if (options.given.contains(name)) throw;
      if (options.adopted.contains(name)) attributes.push_back(in_quotes(name));
    }
    if (attributes.empty()) throw;
    throw Error("the checkpoint " + file.string() + ", which sets " + list_of(attributes) +
                ", cannot be used here: " + error.what());
  }
}

void check_resumption(const RunOptions& options, const TrainingStart& start, Index samples, Index steps_per_epoch) {
  if (options.resume.empty()) return;
  const Checkpoint& checkpoint = start.checkpoint;
  if (checkpoint.epoch > options.training.epochs) {
    throw OptionError("--epochs " + std::to_string(options.training.epochs) + " is the total, but " + start.source() +
                          " already has " + count_of(checkpoint.epoch, "epoch"),
                      {"epochs"});
  }
  if (checkpoint.step != checkpoint.epoch * steps_per_epoch) {
    throw Error(start.source() + " stopped after " + count_of(checkpoint.step, "step") + " in " +
                count_of(checkpoint.epoch, "epoch") + ", which does not fit " + count_of(samples, "training sample") +
                "; it was trained on other data");
  }
}

std::vector<std::vector<ParameterValues>> starting_parameters(const Model& model, const RunOptions& options,
                                                              const TrainingStart& start, std::string& note) {
  const auto start_of = [&](std::uint64_t worker) {
    return start.is_given() ? in_order_of(model, start.checkpoint.parameters, start.source())
                            : initial_parameters(model, options.model, options.training.seed, worker);
  };
  if (options.workers.average == Average::gradients) return {start_of(0)};
  std::vector<std::vector<ParameterValues>> starts;
  if (!options.resume.empty()) {
    starts = start.checkpoint.workers;
    const bool is_same = starts.size() == static_cast<std::size_t>(options.workers.workers);
    if (!is_same && options.ranks_are_workers) {
      note = "the checkpoint holds the weights of " + count_of(std::ssize(starts), "worker") + ": " +
             with_thousands(options.workers.workers) + " continue from their mean" +
             (start.checkpoint.optimizer.empty() ? "" : ", their optimizer anew");
      starts.clear();
    } else if (!is_same) {
      throw Error(start.source() + " holds the parameters of " + count_of(std::ssize(starts), "worker") +
                  ", but its training had " + with_thousands(options.workers.workers));
    }
  }
  for (std::size_t worker = starts.size(); worker < static_cast<std::size_t>(options.workers.workers); ++worker) {
    starts.push_back(start_of(worker));
  }
  return starts;
}

}  // namespace stagewise
