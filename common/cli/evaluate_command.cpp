#include <algorithm>
#include <iostream>
#include <span>

#include <unistd.h>

#include "cli/answer_tables.hpp"
#include "cli/answers.hpp"
#include "cli/drawing.hpp"
#include "cli/latency.hpp"
#include "cli/run.hpp"
#include "cli/stage_network.hpp"
#include "cli/status_line.hpp"
#include "cli/text.hpp"
#include "cli/training_start.hpp"
#include "io/data_sets/catalog.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"
#include "training/evaluate.hpp"

namespace stagewise {
namespace {

void print_latency(Index rows, const std::vector<LatencyReport>& paths) {
  const bool has_device =
      std::any_of(paths.begin(), paths.end(), [](const LatencyReport& path) { return path.path == "device"; });
  std::cout << "\nlatency of a batch of " << with_thousands(rows) << ", host to host"
            << (has_device ? "; device: without copies\n" : "\n");
  const std::vector<Column> columns = {{"path", 12, true}, {"median", 12}, {"95 %", 12}, {"99 %", 12}, {"runs", 12}};
  std::cout << heading_of(columns);
  for (const LatencyReport& path : paths) {
    std::cout << row_of(columns, {path.path, duration(path.median_seconds), duration(path.p95_seconds),
                                  duration(path.p99_seconds), with_thousands(path.samples)});
  }
}

/// Measures all ways in which the stage can predict a batch.
template <typename T>
std::vector<LatencyReport> measure_paths(const Stage& stage, Network<T>& network, const Dataset& dataset) {
  print_note("latency: each path is verified, then measured for up to 10 seconds");
  std::cout << std::flush;
  StatusLine status;
  std::vector<std::unique_ptr<Predictor<T>>> others;
  if (stage.in<T>().make_predictors) others = stage.in<T>().make_predictors(network);
  std::vector<LatencyReport> paths =
      measure_latencies(std::make_unique<EagerPredictor<T>>(network), std::move(others), dataset,
                        [&](const std::string& path) { status.show(("measuring: " + path).c_str()); });
  status.clear();
  return paths;
}

/// What --confusion and --mistakes ask for.
template <typename T>
void show_answers(const Stage& stage, const RunOptions& options, const Checkpoint& checkpoint, const Dataset& whole,
                  const Dataset& shard, Network<T>& network, Report& report) {
  if (!options.confusion && options.mistakes == 0) return;
  const SharedAnswers answers = gather(answers_to(shard, network, options.model), stage.all_ranks());
  if (!stage.is_first_rank()) return;
  const std::vector<std::string> names = class_names(checkpoint, options);
  if (are_more_than_numbers(names)) report.class_names = names;
  if (options.confusion) {
    report.confusion = confusion_of(options.model.classes, whole.labels(), answers.classes);
    print_confusion(*report.confusion, names, terminal_columns(STDOUT_FILENO));
    if (!options.csv.empty()) {
      const std::string text = csv_of(*report.confusion, names);
      write_file(options.csv, std::as_bytes(std::span(text)), "table");
    }
  }
  if (options.mistakes > 0) {
    report.mistakes = answers.mistakes(whole.labels(), options.mistakes);
    for (MistakeReport& mistake : *report.mistakes) {
      if (whole.sample_shape().rank() == 3) mistake.image = shown_image(whole, mistake.sample);
    }
    print_mistakes(*report.mistakes, names, name_of_score(options.model));
  }
}

template <typename T>
void evaluate_with(const Stage& stage, RunOptions options, const Checkpoint& checkpoint,
                   const std::vector<std::string>& notes) {
  Ranks& ranks = stage.all_ranks();
  options.data.precision = options.precision;
  const Dataset dataset =
      load_adopted(options, options.load, [&] { return ranks.load_for_evaluation(options.data, options.encoding); });
  adopt_shape(checkpoint, dataset, options);
  if (options.confusion && options.model.classes > max_confusion_classes) {
    throw UsageError("--confusion counts up to " + with_thousands(max_confusion_classes) + " classes, and there are " +
                     with_thousands(options.model.classes));
  }

  // A batch larger than the data set only means that there is one batch.
  const Index rows = std::min(options.training.batch_size, dataset.size());
  Network<T> network = make_trained<T>(stage, options, checkpoint, rows);
  print_header_of_trained(stage, options,
                          count_of(dataset.size(), (is_single_file(options.data) ? "" : "test ") + unit_of(dataset)),
                          dataset.classes(), checkpoint, network.model, notes);

  Dataset own_shard;
  const Dataset& shard = ranks.shard(dataset, own_shard);
  Report report = report_of(stage, options);
  report.seed = checkpoint.seed;
  add_test(evaluate(network, shard, &ranks), report);
  show_answers(stage, options, checkpoint, dataset, shard, network, report);
  if (options.latency) {
    report.latency = measure_paths(stage, network, dataset);
    print_latency(rows, report.latency);
  }
  if (!options.report.empty() && stage.is_first_rank()) write_report(options.report, report);
}

}  // namespace

void run_evaluate(const Stage& stage, RunOptions options) {
  if (!options.csv.empty() && !options.confusion) {
    throw UsageError("--csv needs --confusion, which is what it writes");
  }
  const Checkpoint checkpoint = read_start(stage, options).checkpoint;
  with_adopted(options, options.load, [&] {
    const std::vector<std::string> notes = prepare_use(stage, options, checkpoint);
    if (options.latency && stage.all_ranks().count() > 1) {
      throw UsageError("--latency measures one process, and mpirun has started " +
                       with_thousands(stage.all_ranks().count()));
    }
    if (options.precision == "double") {
      evaluate_with<double>(stage, options, checkpoint, notes);
    } else {
      evaluate_with<float>(stage, options, checkpoint, notes);
    }
  });
}

}  // namespace stagewise
