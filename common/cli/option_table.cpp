#include "cli/option_table.hpp"

#include <utility>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

// Why options have no effect, for each kind of option; see Option::why_idle.

std::string idle_perceptron(const RunOptions& options) {
  if (options.model.name == "mlp") return "";
  return options.model.name == "cnn" ? "is for --model mlp: the layers of cnn are fixed"
                                     : "is for --model mlp: a neuron is one sigmoid unit with a squared error";
}

std::string idle_layers(const RunOptions& options) {
  return options.model.name == "neuron" ? idle_perceptron(options) : "";
}

std::string idle_losses(const RunOptions& options) {
  return options.model.loss == LossKind::squared_error ? "" : idle_layers(options);
}

std::string idle_activations(const RunOptions& options) {
  const ModelOptions& model = options.model;
  if (model.name == "mlp" && model.hidden.empty() && model.loss != LossKind::squared_error) {
    return "is for hidden layers, and --hidden none leaves none";
  }
  return model.activation == Activation::sigmoid ? "" : idle_layers(options);
}

std::string idle_momentum(const RunOptions& options) {
  return options.training.sgd.rule == Rule::momentum ? "" : "is for --optimizer momentum";
}

std::string idle_adam(const RunOptions& options) {
  return options.training.sgd.rule == Rule::adam ? "" : "is for --optimizer adam";
}

std::string idle_workers(const RunOptions& options) {
  return options.workers.workers == 1 ? "is for several workers, and there is but one" : "";
}

std::string idle_weights(const RunOptions& options) {
  if (options.workers.average == Average::weights) return idle_workers(options);
  return options.workers.workers == 1 ? idle_workers(options)
                                      : "is for --average weights: gradients are averaged in every step";
}

std::string idle_randomness(const RunOptions& options) {
  if (options.load.empty() || options.training.shuffle) return "";
  return "has nothing to decide: --load gives the weights, and --shuffle off the order";
}

std::string idle_more_epochs(const RunOptions& options) {
  if (options.save_every < options.training.epochs) return "";
  return "adds nothing: --save writes at the end, and --epochs is " + std::to_string(options.training.epochs);
}

std::string idle_picture(const RunOptions& options) {
  return options.image.empty() ? "is for a picture, which --image names" : "";
}

double parse_positive(const std::string& text) { return parse_real(text, false); }

/// A number from 0 to below 1.
double parse_fraction(const std::string& text) {
  const double number = parse_real(text, true);
  if (number < 1) return number;
  throw UsageError(in_quotes(text) + " is not below 1");
}

std::vector<Index> parse_hidden(const std::string& text) {
  std::vector<Index> widths;
  if (text == "none") return widths;
  constexpr Index widest = 1 << 24;
  const std::string expected = "; expected are the widths of the layers, such as 256,128, or none";
  for (const std::string& part : split(text, ',')) {
    if (part.empty() && part != text) {
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

void add_network(OptionList& table) {
  const auto model = &RunOptions::model;
  const auto one_of = [](const std::vector<std::string>& names) {
    return [=](const std::string& text) { return parse_choice(text, names); };
  };
  const std::vector<std::string> precisions = {"float", "double"};
  std::vector<std::string> activation_names;
  for (const ActivationNames& one : activations) activation_names.emplace_back(one.name);
  table.begin("Network", for_train | for_evaluate | for_predict | for_info, Kept::of_network);
  table.add("model", "NAME", list_of(model_names()), one_of(model_names()), nullptr, model, &ModelOptions::name);
  table.add("precision", "NAME", list_of(precisions), one_of(precisions), nullptr, &RunOptions::precision);
  table.begin("Network", for_train | for_info, Kept::of_network);
  table.add("hidden", "LIST", "widths of the hidden layers; none for none", parse_hidden, idle_perceptron, model,
            &ModelOptions::hidden);
  table.add("activation", "NAME", list_of(activation_names), parse_activation, idle_activations, model,
            &ModelOptions::activation);
  table.add("loss", "NAME", "cross-entropy, squared-error", parse_loss, idle_losses, model, &ModelOptions::loss);
  table.add("biases", "on|off", "whether layers have biases", parse_switch, idle_layers, model, &ModelOptions::biases);
}

void add_optimizer(OptionList& table) {
  const auto training = &RunOptions::training;
  const auto sgd = &TrainingOptions::sgd;
  table.begin("Training", for_train | for_info, Kept::of_training);
  table
      .add("optimizer", "NAME", "sgd, momentum, adam", Names{"sgd", "momentum", "adam"}, nullptr, training, sgd,
           &Sgd::rule)
      .if_absent = "sgd";
  table.begin("Training", for_train, Kept::of_training);
  table.add("learning-rate", "X", "how far a step goes", parse_positive, nullptr, training, sgd, &Sgd::learning_rate)
      .default_text = "0.15, with squared-error 0.1; momentum a tenth of it; adam 0.001";
  table.add("momentum", "X", "of momentum: what is left of a step in the next", parse_fraction, idle_momentum, training,
            sgd, &Sgd::momentum);
  table.add("beta1", "X", "of adam: the same for the mean of gradients", parse_fraction, idle_adam, training, sgd,
            &Sgd::beta1);
  table.add("beta2", "X", "of adam: and for that of their squares", parse_fraction, idle_adam, training, sgd,
            &Sgd::beta2);
  table.add("epsilon", "X", "of adam: keeps it from dividing by 0", parse_positive, idle_adam, training, sgd,
            &Sgd::epsilon);
  table
      .add("schedule", "NAME",
           "of the learning rate: constant; step, a tenth after half of the steps, a hundredth "
           "after three quarters; cosine, down to 0",
           Names{"constant", "step", "cosine"}, nullptr, training, sgd, &Sgd::schedule, &Schedule::decay)
      .if_absent = "constant";
  table
      .add("warmup", "N", "steps in which the learning rate rises", count(0), nullptr, training, sgd, &Sgd::schedule,
           &Schedule::warmup)
      .if_absent = "0";
  table.add("l2", "X", "weight decay", parse_not_negative, nullptr, training, sgd, &Sgd::l2);
}

void add_training(OptionList& table) {
  using Training = TrainingOptions;
  const auto training = &RunOptions::training;
  table.begin("Training", for_train | for_info, Kept::of_training);
  table.add("batch-size", "N", "samples a step", count(), nullptr, training, &Training::batch_size);
  table.begin("Network", for_evaluate | for_predict, Kept::no);
  table.add("batch-size", "N", "samples at a time", count(), nullptr, training, &Training::batch_size);
  constexpr std::int64_t most_epochs = 1'000'000'000;  // so that a count of steps stays a number
  table.begin("Training", for_train, Kept::freely);
  table
      .add("epochs", "N", "passes through the data; with --resume the total, those done before included",
           count(0, most_epochs), nullptr, training, &Training::epochs)
      .default_text = std::to_string(TrainingOptions().epochs) + "; with --resume the checkpoint's";
  add_optimizer(table);
  table.add("seed", "N", "of initial weights and sample order", parse_seed, idle_randomness, training, &Training::seed);
  table.add("shuffle", "on|off", "new sample order in every epoch", parse_switch, nullptr, training,
            &Training::shuffle);

  const auto sharing = &RunOptions::workers;
  constexpr std::int64_t most_workers = 1 << 16;
  table.begin(workers_group, for_train | for_info, Kept::of_training);
  table.add("workers", "W", "share every batch among W workers", count(1, most_workers), nullptr, sharing,
            &WorkerOptions::workers);
  table.add("average", "NAME", "of gradients or weights", Names{"gradients", "weights"}, idle_workers, sharing,
            &WorkerOptions::average);
  table.begin(workers_group, for_train, Kept::of_training);
  table.add("average-every", "K", "steps between two means of weights", count(), idle_weights, sharing,
            &WorkerOptions::average_every);
}

/// What no checkpoint keeps.
void add_others(OptionList& table) {
  const auto add_file = [&](const char* name, const char* description, auto RunOptions::*file) -> Option& {
    return table.add(name, "FILE", description, parse_name, nullptr, file);
  };
  const auto add_flag = [&](const char* name, const char* description, bool RunOptions::*flag) {
    table.add(name, "", description, parse_switch, nullptr, flag);
  };
  table.begin("Checkpoints", for_train, Kept::no);
  add_file("load", "start from these parameters", &RunOptions::load);
  add_file("save", "write a checkpoint at the end", &RunOptions::save);
  table.add("save-every", "K", "and also every K epochs", count(), idle_more_epochs, &RunOptions::save_every)
      .default_text = "never";
  add_file("save-best", "write a checkpoint after each epoch that is best on the validation set",
           &RunOptions::save_best);
  add_file("resume", "continue exactly where this checkpoint stopped", &RunOptions::resume);
  table.begin("Network", for_evaluate | for_predict, Kept::no);
  add_file("load", "the checkpoint that holds the network", &RunOptions::load).is_required = true;
  table.begin("One sample", for_predict, Kept::no);
  add_file("image", "predict this picture, a PNG file, and draw it", &RunOptions::image);
  table.add("background", "NAME", "of the picture: auto, light, dark", Names{"auto", "light", "dark"}, idle_picture,
            &RunOptions::background);
  table.add("sample", "I", "predict sample I of the data, from 0, and draw it", count(0), nullptr, &RunOptions::sample)
      .default_text = "all";
  table.begin("Results", for_train | for_evaluate | for_predict, Kept::no);
  add_file("report", "write the results as JSON", &RunOptions::report);
  table.begin("Results", for_train, Kept::no);
  table
      .add("log-every", "K", "report every K steps, too", count(), nullptr, &RunOptions::training,
           &TrainingOptions::log_every)
      .default_text = "never";
  add_file("csv", "write the reports of the epochs, or of --log-every, as CSV; --resume adds to it", &RunOptions::csv);
  add_flag("timings", "print a table of time per operation", &RunOptions::timings);
  add_flag("explain", "print what limits each operation, and how far from that limit it is", &RunOptions::explain);
  table.begin("Results", for_evaluate, Kept::no);
  add_flag("confusion", "print which classes are taken for which; precision and recall", &RunOptions::confusion);
  table.add("mistakes", "N", "show the N most confident wrong answers", count(), nullptr, &RunOptions::mistakes)
      .default_text = "none";
  add_file("csv", "with --confusion: write the matrix as CSV", &RunOptions::csv);
  add_flag("latency", "measure how long one batch takes", &RunOptions::latency);
  table.begin("Results", for_predict, Kept::no);
  add_file("csv", "write the predictions as CSV", &RunOptions::csv);
}

}  // namespace

const std::vector<Option>& option_table() {
  static const std::vector<Option> options = [] {
    OptionList table;
    add_data_options(table);
    add_network(table);
    add_training(table);
    add_others(table);
    return std::move(table.options);
  }();
  return options;
}

std::string why_idle(const Option& option, const RunOptions& options) {
  if (is_of_data(option) && !options.image.empty()) return "is for a data set, and --image names a picture";
  const auto own_reason = [&] { return option.why_idle ? option.why_idle(options) : ""; };
  if (!option.stored_as.empty() && option.why_idle) return own_reason();  // whatever the others are
  const std::string reason = options.stage_why_idle ? options.stage_why_idle(option.name, options.stage, options.model,
                                                                             options.workers, options.training.sgd)
                                                    : "";
  return reason.empty() ? own_reason() : reason;
}

std::string list(const std::vector<Index>& numbers) {
  if (numbers.empty()) return "none";
  std::vector<std::string> names;
  for (const Index number : numbers) names.push_back(std::to_string(number));
  return list_of(names, ",");
}

}  // namespace stagewise
