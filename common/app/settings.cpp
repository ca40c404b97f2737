#include "app/settings.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/options.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

std::vector<Index> parse_hidden(const std::string& text) {
  std::vector<Index> widths;
  if (text == "none") return widths;
  constexpr Index widest = 1 << 24;
  const std::string expected = "; expected are the widths of the layers, such as 256,128, or none";
  if (text.empty()) throw UsageError("'' is no width" + expected);
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

std::string write_optional(const std::optional<Index>& value) {
  return value ? std::to_string(*value) : "all";
}

// --------------------------------------------------------------------- why an option has no effect

const char* const of_neuron =
    "is for --model mlp: a neuron is one sigmoid unit with a squared error";

std::string idle_hidden(const RunOptions& options) {
  if (options.model.name == "cnn") return "is for --model mlp: the layers of cnn are fixed";
  return options.model.name == "neuron" ? of_neuron : "";
}

std::string idle_activation(const RunOptions& options) {
  const ModelOptions& model = options.model;
  if (model.name == "neuron") return model.activation == Activation::sigmoid ? "" : of_neuron;
  const bool is_read =
      model.name != "mlp" || !model.hidden.empty() || model.loss == LossKind::squared_error;
  return is_read ? "" : "is for hidden layers, and --hidden none leaves none";
}

std::string idle_biases(const RunOptions& options) {
  return options.model.name == "neuron" ? of_neuron : "";
}

std::string idle_loss(const RunOptions& options) {
  const bool is_other = options.model.loss != LossKind::squared_error;
  return options.model.name == "neuron" && is_other ? of_neuron : "";
}

std::string idle_format(const RunOptions& options) {
  return options.data.format.empty() ? "is for a path" : "";
}

std::string idle_label(const RunOptions& options) {
  if (is_table(options.data)) return "";
  return "names a column of a CSV file, but " + options.data.name + " is none";
}

std::string idle_gaussian(const RunOptions& options) {
  const bool is_gaussian = options.data.name == "gaussian" && options.data.format.empty();
  return is_gaussian ? "" : "is for --dataset gaussian";
}

std::string idle_momentum(const RunOptions& options) {
  return options.training.sgd.rule == Rule::momentum ? "" : "is for --optimizer momentum";
}

std::string idle_adam(const RunOptions& options) {
  return options.training.sgd.rule == Rule::adam ? "" : "is for --optimizer adam";
}

std::string idle_average(const RunOptions& options) {
  return options.workers.workers == 1 ? "is for several workers, and there is but one" : "";
}

std::string idle_average_every(const RunOptions& options) {
  if (options.workers.workers == 1) return idle_average(options);
  if (options.workers.average == Average::weights) return "";
  return "is for --average weights: gradients are averaged in every step";
}

/// Of options that no checkpoint stores.
std::string idle_beside_settings(const std::string& name, const RunOptions& options) {
  if (name == "data-dir" && !is_in_data_folder(options.data)) {
    return "is for data sets that are read from there, and " + options.data.name + " is " +
           (options.data.format.empty() ? "generated" : "a path");
  }
  if (name == "background" && options.image.empty()) return "is for a picture, which --image names";
  if (name == "save-every" && options.save_every >= options.training.epochs) {
    return "adds nothing: --save writes at the end, and --epochs is " +
           std::to_string(options.training.epochs);
  }
  if (name == "seed" && !options.load.empty() && !options.training.shuffle) {
    return "has nothing to decide: --load gives the weights, and --shuffle off the order";
  }
  return "";
}

/// Whether the option says which data set is meant, or which part of it.
bool is_of_data(const std::string& name) {
  constexpr std::array names = {"dataset", "format", "label", "data-dir", "test-limit", "sample"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(gaussian_options.begin(), gaussian_options.end(), name) !=
             gaussian_options.end();
}

// --------------------------------------------------------------------------------------- the table

const std::vector<std::string> optimizers = {"sgd", "momentum", "adam"};    // as Rule
const std::vector<std::string> schedules = {"constant", "step", "cosine"};  // as Decay

std::size_t index(auto choice) {
  return static_cast<std::size_t>(choice);
}

void read_choice(const std::string& text, const std::vector<std::string>& choices, auto& choice) {
  parse_choice(text, choices);
  const auto place = std::find(choices.begin(), choices.end(), text) - choices.begin();
  choice = static_cast<std::decay_t<decltype(choice)>>(place);
}

double parse_positive(const std::string& text) {
  return parse_real(text, false);
}

/// A number from 0 to below 1.
double parse_fraction(const std::string& text) {
  const double number = parse_real(text, true);
  if (number < 1) return number;
  throw UsageError(in_quotes(text) + " is not below 1");
}

std::optional<Index> read_optional(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_count(text, 1);
}

/// Those of the network, the data set and the training.
std::vector<Setting> general_settings() {
  return {
      {"hidden", true, [](const auto& o) { return list(o.model.hidden); },
       [](const auto& text, auto& o) { o.model.hidden = parse_hidden(text); }, idle_hidden},
      {"activation", true, [](const auto& o) { return to_string(o.model.activation); },
       [](const auto& text, auto& o) { o.model.activation = parse_activation(text); },
       idle_activation},
      {"biases", true, [](const auto& o) { return o.model.biases ? "on" : "off"; },
       [](const auto& text, auto& o) { o.model.biases = parse_switch(text); }, idle_biases},
      {"loss", true, [](const auto& o) { return to_string(o.model.loss); },
       [](const auto& text, auto& o) { o.model.loss = parse_loss(text); }, idle_loss},
      {"dataset", false, [](const auto& o) { return o.data.name; },
       [](const auto& text, auto& o) { o.data.name = text; }},
      {"format", false, [](const auto& o) { return o.data.format; },
       [](const auto& text, auto& o) { o.data.format = text; }, idle_format},
      {"train-limit", false, [](const auto& o) { return write_optional(o.data.train_limit); },
       [](const auto& text, auto& o) { o.data.train_limit = read_optional(text); }},
      {"validation", false, [](const auto& o) { return std::to_string(o.data.validation); },
       [](const auto& text, auto& o) { o.data.validation = parse_count(text, 0); }},
      {"batch-size", false, [](const auto& o) { return std::to_string(o.training.batch_size); },
       [](const auto& text, auto& o) { o.training.batch_size = parse_count(text, 1); }},
      {"learning-rate", false, [](const auto& o) { return shortest(o.training.sgd.learning_rate); },
       [](const auto& text, auto& o) { o.training.sgd.learning_rate = parse_positive(text); }},
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
       },
       idle_average},
      {"average-every", false,
       [](const auto& o) { return std::to_string(o.workers.average_every); },
       [](const auto& text, auto& o) { o.workers.average_every = parse_count(text, 1); },
       idle_average_every},
  };
}

/// A number of the optimizer.
Setting number_setting(const char* name, double Sgd::*number, double (*parse)(const std::string&),
                       std::string (*idle)(const RunOptions&)) {
  return {name, false, [=](const auto& o) { return shortest(o.training.sgd.*number); },
          [=](const auto& text, auto& o) { o.training.sgd.*number = parse(text); }, idle};
}

/// Those of the optimizer, and how its rate changes. Earlier checkpoints have none of them.
std::vector<Setting> optimizer_settings() {
  std::vector<Setting> all = {
      {"optimizer", false, [](const auto& o) { return optimizers.at(index(o.training.sgd.rule)); },
       [](const auto& text, auto& o) { read_choice(text, optimizers, o.training.sgd.rule); }},
      {"schedule", false,
       [](const auto& o) { return schedules.at(index(o.training.sgd.schedule.decay)); },
       [](const auto& text, auto& o) {
         read_choice(text, schedules, o.training.sgd.schedule.decay);
       }},
      {"warmup", false,
       [](const auto& o) { return std::to_string(o.training.sgd.schedule.warmup); },
       [](const auto& text, auto& o) { o.training.sgd.schedule.warmup = parse_count(text, 0); }},
      number_setting("momentum", &Sgd::momentum, parse_fraction, idle_momentum),
      number_setting("beta1", &Sgd::beta1, parse_fraction, idle_adam),
      number_setting("beta2", &Sgd::beta2, parse_fraction, idle_adam),
      number_setting("epsilon", &Sgd::epsilon, parse_positive, idle_adam)};
  all[0].if_absent = "sgd";
  all[1].if_absent = "constant";
  all[2].if_absent = "0";
  return all;
}

/// Those of data sets of one kind; whether the samples are shuffled comes last.
std::vector<Setting> special_settings() {
  return {
      {"label", false, [](const auto& o) { return o.data.label; },
       [](const auto& text, auto& o) { o.data.label = text; }, idle_label},
      {"features", false, [](const auto& o) { return std::to_string(o.data.gaussian.features); },
       [](const auto& text, auto& o) { o.data.gaussian.features = parse_count(text, 1); },
       idle_gaussian},
      {"classes", false, [](const auto& o) { return std::to_string(o.data.gaussian.classes); },
       [](const auto& text, auto& o) {
         constexpr std::int64_t most = 1 << 24;
         o.data.gaussian.classes = static_cast<int>(parse_count(text, 2, most));
       },
       idle_gaussian},
      {"samples", false, [](const auto& o) { return std::to_string(o.data.gaussian.samples); },
       [](const auto& text, auto& o) { o.data.gaussian.samples = parse_count(text, 1); },
       idle_gaussian},
      {"spacing", false, [](const auto& o) { return shortest(o.data.gaussian.spacing); },
       [](const auto& text, auto& o) { o.data.gaussian.spacing = parse_real(text, true); },
       idle_gaussian},
      {"deviation", false, [](const auto& o) { return shortest(o.data.gaussian.deviation); },
       [](const auto& text, auto& o) { o.data.gaussian.deviation = parse_real(text, true); },
       idle_gaussian},
      {"shuffle", false, [](const auto& o) { return o.training.shuffle ? "on" : "off"; },
       [](const auto& text, auto& o) { o.training.shuffle = parse_switch(text); }},
  };
}

/// Null if no checkpoint stores it.
const Setting* find_setting(const std::string& name) {
  const auto found = std::find_if(settings().begin(), settings().end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == settings().end() ? nullptr : &*found;
}

}  // namespace

std::string list(const std::vector<Index>& numbers) {
  if (numbers.empty()) return "none";
  std::vector<std::string> names;
  for (const Index number : numbers) names.push_back(std::to_string(number));
  return list_of(names, ",");
}

std::int64_t parse_epochs(const std::string& text) {
  constexpr std::int64_t most = 1'000'000'000;  // so that a count of steps stays a number
  return parse_count(text, 0, most);
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all = general_settings();
    for (Setting& setting : optimizer_settings()) all.push_back(std::move(setting));
    for (Setting& setting : special_settings()) all.push_back(std::move(setting));
    return all;
  }();
  return table;
}

std::string why_idle(const std::string& name, const RunOptions& options) {
  if (!options.image.empty() && is_of_data(name)) {
    return "is for a data set, and --image names a picture";
  }
  const auto own = options.stage_options.find(name);
  if (own != options.stage_options.end() && own->second.only_trains && options.only_predicts) {
    return "is for train";
  }
  if (options.stage_why_idle) {
    std::string reason = options.stage_why_idle(name, options.stage, options.model, options.workers,
                                                options.training.sgd);
    if (!reason.empty()) return reason;
  }
  const Setting* const setting = find_setting(name);
  if (setting == nullptr) return idle_beside_settings(name, options);
  return setting->idle ? setting->idle(options) : "";
}

bool is_contradicted(const std::string& name, const RunOptions& options) {
  const ModelOptions& model = options.model;
  if (name == "dataset" || name == "sample") return true;  // a picture is predicted instead
  if (name == "hidden") return model.name == "cnn" || !model.hidden.empty();
  if (name == "biases") return !model.biases;
  if (name == "activation" || name == "loss") return model.name == "neuron";
  const auto own = options.stage_options.find(name);
  if (own == options.stage_options.end() || options.only_predicts) return false;
  return own->second.insists == options.stage.at(name);
}

void set_default(const std::string& name, RunOptions& options) {
  const auto own = options.stage_options.find(name);
  if (own != options.stage_options.end()) {
    options.stage[name] = own->second.default_choice;
  } else if (const Setting* const setting = find_setting(name)) {
    setting->read(setting->write(RunOptions()), options);
  } else if (name == "seed") {
    options.training.seed = RunOptions().training.seed;
  }
}

const Setting& setting_of(const std::string& name) {
  return *find_setting(name);
}

}  // namespace stagewise
