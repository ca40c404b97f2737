#include <algorithm>
#include <iostream>
#include <span>
#include <utility>

#include <unistd.h>

#include "cli/answer_tables.hpp"
#include "cli/answers.hpp"
#include "cli/drawing.hpp"
#include "cli/run.hpp"
#include "cli/stage_network.hpp"
#include "cli/status_line.hpp"
#include "cli/text.hpp"
#include "cli/training_start.hpp"
#include "io/data_sets/catalog.hpp"
#include "io/file.hpp"
#include "io/images/image.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// Samples to predict, and what they are called in the header.
struct Input {
  Dataset samples;
  bool has_labels = false;
  Index first = 0;  ///< number of the first of them in the data set
  std::string description;
};

/// What the network takes, as the checkpoint says.
/// @throws Error if the checkpoint does not say.
DataShape expected_shape(const Checkpoint& checkpoint, const RunOptions& options) {
  if (const auto shape = read_data_shape(checkpoint, options.load)) return *shape;
  throw Error("the checkpoint " + options.load.string() + " does not say what its samples are; train --load " +
              options.load.string() + " --save FILE adds that");
}

Input read_picture(const Checkpoint& checkpoint, const RunOptions& options) {
  const auto [sample, classes] = expected_shape(checkpoint, options);
  if (sample.rank() != 3 || (sample[2] != 1 && sample[2] != 3)) {
    throw Error("the network of " + options.load.string() + " takes samples of shape " + sample.to_string() +
                ", which are no pictures");
  }
  const Image image = read_image(options.image, sample[2]);
  std::string description =
      "a picture of " + std::to_string(image.height) + "x" + std::to_string(image.width) + ", as one";
  try {
    return {.samples = fit_image(image, sample, options.background, classes), .description = std::move(description)};
  } catch (const Error& error) {
    throw Error("cannot use the image " + options.image.string() + ": " + error.what());
  }
}

Input read_samples(const Checkpoint& checkpoint, const RunOptions& options) {
  Unseen data = load_adopted(options, options.load, [&] { return load_unseen(options.data, options.encoding); });
  if (!data.has_labels) expected_shape(checkpoint, options);
  const std::string unit = (is_single_file(options.data) ? "" : "test ") + unit_of(data.samples);
  Input input = {.samples = std::move(data.samples), .has_labels = data.has_labels};
  input.description = count_of(input.samples.size(), unit);
  if (options.sample) {
    if (*options.sample >= input.samples.size()) {
      throw UsageError("--sample " + std::to_string(*options.sample) + " is not one of the " + input.description +
                       ", which are counted from 0");
    }
    input.first = *options.sample;
    input.samples = input.samples.slice(input.first, 1);
  }
  return input;
}

void write_results(const Stage& stage, const RunOptions& options, const Checkpoint& checkpoint,
                   const Predictions& predictions) {
  if (!options.csv.empty()) {
    const std::string text = csv_of(predictions);
    write_file(options.csv, std::as_bytes(std::span(text)), "table");
  }
  if (!options.report.empty()) {
    Report report = report_of(stage, options);
    report.seed = checkpoint.seed;
    if (are_more_than_numbers(predictions.names)) report.class_names = predictions.names;
    report.predictions = predictions.samples;
    write_report(options.report, report);
  }
}

template <typename T>
void predict_with(const Stage& stage, RunOptions options, const Checkpoint& checkpoint,
                  const std::vector<std::string>& notes) {
  options.data.precision = options.precision;
  const Input input = options.image.empty() ? read_samples(checkpoint, options) : read_picture(checkpoint, options);
  if (!options.image.empty()) options.data.name = options.image.string();  // for the header
  adopt_shape(checkpoint, input.samples, options);
  const Index rows = std::min(options.training.batch_size, input.samples.size());
  Network<T> network = make_trained<T>(stage, options, checkpoint, rows);
  print_header_of_trained(stage, options, input.description, options.model.classes, checkpoint, network.model, notes);

  const bool is_one = !options.image.empty() || options.sample;
  const bool is_image = input.samples.sample_shape().rank() == 3;
  if (is_one && is_image) {
    std::cout << '\n';
    for (const std::string& line : draw(shown_image(input.samples, 0), terminal_columns(STDOUT_FILENO))) {
      std::cout << line << '\n';
    }
  }
  Predictions predictions = {.samples = answers_to(input.samples, network, options.model),
                             .names = class_names(checkpoint, options),
                             .score = name_of_score(options.model)};
  for (PredictionReport& each : predictions.samples) {
    if (input.has_labels) {
      each.label = input.samples.labels()[static_cast<std::size_t>(each.sample)];
    }
    each.sample += input.first;
  }
  if (is_one) {
    if (input.has_labels) {
      std::cout << "\nlabel         " << predictions.names[static_cast<std::size_t>(input.samples.labels()[0])] << '\n';
    }
    print_scores(predictions);
  } else {
    print_table(predictions);
  }
  write_results(stage, options, checkpoint, predictions);
}

}  // namespace

void run_predict(const Stage& stage, RunOptions options) {
  if (stage.all_ranks().count() > 1) {
    throw UsageError("predict runs in one process, and mpirun has started " +
                     with_thousands(stage.all_ranks().count()));
  }
  const Checkpoint checkpoint = read_start(stage, options).checkpoint;
  with_adopted(options, options.load, [&] {
    const std::vector<std::string> notes = prepare_use(stage, options, checkpoint);
    if (options.precision == "double") {
      predict_with<double>(stage, options, checkpoint, notes);
    } else {
      predict_with<float>(stage, options, checkpoint, notes);
    }
  });
}

}  // namespace stagewise
