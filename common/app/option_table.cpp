#include "app/option_table.hpp"

#include <limits>
#include <utility>

#include "app/option_list.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

const std::string data_group = "Data";
const std::string generated_group = "Generated data (gaussian)";

/// Reads a whole number.
auto count(std::int64_t least = 1, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return [=](const std::string& text) { return parse_count(text, least, most); };
}

/// Reads a count, or "all".
std::optional<Index> parse_limit(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_count(text, 1);
}

double parse_not_negative(const std::string& text) {
  return parse_real(text, true);
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

void add_data(OptionList& table) {
  using Set = DatasetOptions;
  const auto set = &RunOptions::data;
  const unsigned with_data = for_train | for_evaluate | for_predict;
  table.begin(data_group, with_data, Kept::freely);
  table
      .add("dataset", "NAME", list_of(dataset_names()) + ", or a path with --format", parse_name,
           nullptr, set, &Set::name)
      .default_text = "that of the checkpoint; without one, digits";
  table.add("format", "NAME", "format of the file that --dataset names: " + list_of(format_names()),
            parse_name, idle::of_path, set, &Set::format);
  table.begin(data_group, with_data, Kept::no);
  table
      .add("data-dir", "DIR", "folder that holds mnist/, ...", parse_name, idle::of_data_folder,
           set, &Set::data_dir)
      .default_text = "STAGEWISE_DATA_DIR, else datasets";
  table.begin(data_group, for_train, Kept::no);
  table.add("test-limit", "N", "use the first N test samples; --resume does not remember it",
            parse_limit, nullptr, set, &Set::test_limit);
  table.begin(data_group, for_evaluate | for_predict, Kept::no);
  table.add("test-limit", "N", "use the first N test samples", parse_limit, nullptr, set,
            &Set::test_limit);
  table.begin(data_group, with_data, Kept::of_training);
  table.add("label", "NAME", "csv: the column that holds the class", parse_name, idle::of_table,
            set, &Set::label);
  table.begin(data_group, for_train, Kept::of_training);
  table.add("train-limit", "N", "use the first N training samples", parse_limit, nullptr, set,
            &Set::train_limit);
  table.add("validation", "N", "hold out the last N training samples", count(0), nullptr, set,
            &Set::validation);

  using Gaussian = GaussianOptions;
  constexpr std::int64_t most_classes = 1 << 24;
  table.begin(generated_group, with_data, Kept::of_training);
  const auto add = [&](const char* name, const char* argument, const char* description,
                       const auto& parse, auto Gaussian::*member) {
    table.add(name, argument, description, parse, idle::of_gaussian, set, &Set::gaussian, member);
  };
  add("features", "N", "features of a sample", count(), &Gaussian::features);
  add("classes", "N", "classes", count(2, most_classes), &Gaussian::classes);
  add("samples", "N", "training samples; a fifth as many for testing", count(), &Gaussian::samples);
  add("spacing", "X", "between the means of neighbouring classes", parse_not_negative,
      &Gaussian::spacing);
  add("deviation", "X", "of a feature around its class's mean", parse_not_negative,
      &Gaussian::deviation);
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
  table.add("model", "NAME", list_of(model_names()), one_of(model_names()), nullptr, model,
            &ModelOptions::name);
  table.add("precision", "NAME", list_of(precisions), one_of(precisions), nullptr,
            &RunOptions::precision);
  table.begin("Network", for_train | for_info, Kept::of_network);
  table.add("hidden", "LIST", "widths of the hidden layers; none for none", parse_hidden,
            idle::of_perceptron, model, &ModelOptions::hidden);
  table.add("activation", "NAME", list_of(activation_names), parse_activation, idle::of_activations,
            model, &ModelOptions::activation);
  table.add("loss", "NAME", "cross-entropy, squared-error", parse_loss, idle::of_losses, model,
            &ModelOptions::loss);
  table.add("biases", "on|off", "whether layers have biases", parse_switch, idle::of_layers, model,
            &ModelOptions::biases);
}

void add_optimizer(OptionList& table) {
  const auto training = &RunOptions::training;
  const auto sgd = &TrainingOptions::sgd;
  table.begin("Training", for_train | for_info, Kept::of_training);
  table
      .add("optimizer", "NAME", "sgd, momentum, adam", Names{"sgd", "momentum", "adam"}, nullptr,
           training, sgd, &Sgd::rule)
      .if_absent = "sgd";
  table.begin("Training", for_train, Kept::of_training);
  table
      .add("learning-rate", "X", "how far a step goes", parse_positive, nullptr, training, sgd,
           &Sgd::learning_rate)
      .default_text = "0.15, with squared-error 0.1; momentum a tenth of it; adam 0.001";
  table.add("momentum", "X", "of momentum: what is left of a step in the next", parse_fraction,
            idle::of_momentum, training, sgd, &Sgd::momentum);
  table.add("beta1", "X", "of adam: the same for the mean of gradients", parse_fraction,
            idle::of_adam, training, sgd, &Sgd::beta1);
  table.add("beta2", "X", "of adam: and for that of their squares", parse_fraction, idle::of_adam,
            training, sgd, &Sgd::beta2);
  table.add("epsilon", "X", "of adam: keeps it from dividing by 0", parse_positive, idle::of_adam,
            training, sgd, &Sgd::epsilon);
  table
      .add("schedule", "NAME",
           "of the learning rate: constant; step, a tenth after half of the steps, a hundredth "
           "after three quarters; cosine, down to 0",
           Names{"constant", "step", "cosine"}, nullptr, training, sgd, &Sgd::schedule,
           &Schedule::decay)
      .if_absent = "constant";
  table
      .add("warmup", "N", "steps in which the learning rate rises", count(0), nullptr, training,
           sgd, &Sgd::schedule, &Schedule::warmup)
      .if_absent = "0";
  table.add("l2", "X", "weight decay", parse_not_negative, nullptr, training, sgd, &Sgd::l2);
}

void add_training(OptionList& table) {
  using Training = TrainingOptions;
  const auto training = &RunOptions::training;
  table.begin("Training", for_train | for_info, Kept::of_training);
  table.add("batch-size", "N", "samples a step", count(), nullptr, training, &Training::batch_size);
  table.begin("Network", for_evaluate | for_predict, Kept::no);
  table.add("batch-size", "N", "samples at a time", count(), nullptr, training,
            &Training::batch_size);
  constexpr std::int64_t most_epochs = 1'000'000'000;  // so that a count of steps stays a number
  table.begin("Training", for_train, Kept::freely);
  table
      .add("epochs", "N",
           "passes through the data; with --resume the total, those done before included",
           count(0, most_epochs), nullptr, training, &Training::epochs)
      .default_text = std::to_string(TrainingOptions().epochs) + "; with --resume the checkpoint's";
  add_optimizer(table);
  table.add("seed", "N", "of initial weights and sample order", parse_seed, idle::of_randomness,
            training, &Training::seed);
  table.add("shuffle", "on|off", "new sample order in every epoch", parse_switch, nullptr, training,
            &Training::shuffle);

  const auto sharing = &RunOptions::workers;
  constexpr std::int64_t most_workers = 1 << 16;
  table.begin(workers_group, for_train | for_info, Kept::of_training);
  table.add("workers", "W", "share every batch among W workers", count(1, most_workers), nullptr,
            sharing, &WorkerOptions::workers);
  table.add("average", "NAME", "of gradients or weights", Names{"gradients", "weights"},
            idle::of_workers, sharing, &WorkerOptions::average);
  table.begin(workers_group, for_train, Kept::of_training);
  table.add("average-every", "K", "steps between two means of weights", count(), idle::of_weights,
            sharing, &WorkerOptions::average_every);
}

/// What no checkpoint keeps.
void add_others(OptionList& table) {
  const auto add_file = [&](const char* name, const char* description,
                            auto RunOptions::*file) -> Option& {
    return table.add(name, "FILE", description, parse_name, nullptr, file);
  };
  const auto add_flag = [&](const char* name, const char* description, bool RunOptions::*flag) {
    table.add(name, "", description, parse_switch, nullptr, flag);
  };
  table.begin("Checkpoints", for_train, Kept::no);
  add_file("load", "start from these parameters", &RunOptions::load);
  add_file("save", "write a checkpoint at the end", &RunOptions::save);
  table
      .add("save-every", "K", "and also every K epochs", count(), idle::of_more_epochs,
           &RunOptions::save_every)
      .default_text = "never";
  add_file("save-best", "write a checkpoint after each epoch that is best on the validation set",
           &RunOptions::save_best);
  add_file("resume", "continue exactly where this checkpoint stopped", &RunOptions::resume);
  table.begin("Network", for_evaluate | for_predict, Kept::no);
  add_file("load", "the checkpoint that holds the network", &RunOptions::load).is_required = true;
  table.begin("One sample", for_predict, Kept::no);
  add_file("image", "predict this picture, a PNG file, and draw it", &RunOptions::image);
  table.add("background", "NAME", "of the picture: auto, light, dark",
            Names{"auto", "light", "dark"}, idle::of_picture, &RunOptions::background);
  table
      .add("sample", "I", "predict sample I of the data, from 0, and draw it", count(0), nullptr,
           &RunOptions::sample)
      .default_text = "all";
  table.begin("Results", for_train | for_evaluate | for_predict, Kept::no);
  add_file("report", "write the results as JSON", &RunOptions::report);
  table.begin("Results", for_train, Kept::no);
  table
      .add("log-every", "K", "report every K steps, too", count(), nullptr, &RunOptions::training,
           &TrainingOptions::log_every)
      .default_text = "never";
  add_file("csv", "write the reports of the epochs, or of --log-every, as CSV; --resume adds to it",
           &RunOptions::csv);
  add_flag("timings", "print a table of time per operation", &RunOptions::timings);
  add_flag("explain", "print what limits each operation, and how far from that limit it is",
           &RunOptions::explain);
  table.begin("Results", for_evaluate, Kept::no);
  add_flag("confusion", "print which classes are taken for which; precision and recall",
           &RunOptions::confusion);
  table
      .add("mistakes", "N", "show the N most confident wrong answers", count(), nullptr,
           &RunOptions::mistakes)
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
    add_data(table);
    add_network(table);
    add_training(table);
    add_others(table);
    return std::move(table.options);
  }();
  return options;
}

std::string why_idle(const Option& option, const RunOptions& options) {
  const bool is_of_data =
      option.group == data_group || option.group == generated_group || option.name == "sample";
  if (is_of_data && !options.image.empty()) return "is for a data set, and --image names a picture";
  const auto own_reason = [&] { return option.why_idle ? option.why_idle(options) : ""; };
  if (!option.stored_as.empty() && option.why_idle) return own_reason();  // whatever the others are
  const std::string reason = options.stage_why_idle
                                 ? options.stage_why_idle(option.name, options.stage, options.model,
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
