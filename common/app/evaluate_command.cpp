#include <algorithm>
#include <iostream>

#include "app/adopted.hpp"
#include "app/check_files.hpp"
#include "app/commands.hpp"
#include "app/header.hpp"
#include "app/latency.hpp"
#include "app/status_line.hpp"
#include "app/text.hpp"
#include "io/checksum.hpp"
#include "io/data_sets/catalog.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

void print_latency(Index rows, const std::vector<LatencyReport>& paths) {
  constexpr std::size_t width = 12;
  const auto column = [](const std::string& text) { return right(text, width); };
  std::cout << "\nlatency of a batch of " << with_thousands(rows) << ", host to host\n";
  std::cout << "path        " << column("median") << column("95 %") << column("99 %")
            << column("runs") << '\n';
  for (const LatencyReport& path : paths) {
    std::string name = path.path;
    name.resize(std::max(name.size(), width), ' ');
    std::cout << name << column(duration(path.median_seconds)) << column(duration(path.p95_seconds))
              << column(duration(path.p99_seconds)) << column(with_thousands(path.samples)) << '\n';
  }
}

/// Measures all ways in which the stage can predict a batch.
template <typename T>
std::vector<LatencyReport> measure_paths(const Stage& stage, Network<T>& network,
                                         const Dataset& dataset) {
  print_note("latency: each path is verified, then measured for up to 10 seconds");
  std::cout << std::flush;
  StatusLine status;
  std::vector<std::unique_ptr<Predictor<T>>> others;
  if (stage.in<T>().make_predictors) others = stage.in<T>().make_predictors(network);
  std::vector<LatencyReport> paths = measure_latencies(
      std::make_unique<EagerPredictor<T>>(network), std::move(others), dataset,
      [&](const std::string& path) { status.show(("measuring: " + path).c_str()); });
  status.clear();
  return paths;
}

template <typename T>
void evaluate_with(const Stage& stage, RunOptions options, const Checkpoint& checkpoint,
                   const std::vector<std::string>& notes, const std::vector<std::string>& command) {
  Ranks alone;
  Ranks& ranks = stage.ranks != nullptr ? *stage.ranks : alone;
  options.data.precision = options.precision;
  const Dataset dataset = load_adopted(options, options.load, [&] {
    return ranks.load_for_evaluation(options.data, options.encoding);
  });
  options.model.sample = dataset.sample_shape();
  options.model.classes = dataset.classes();
  Shape sample;
  int classes = 0;
  if (read_data_shape(checkpoint, options.load, sample, classes)) {
    if (sample != dataset.sample_shape() || dataset.classes() > classes) {
      throw Error("the checkpoint " + options.load.string() + " was trained on samples of shape " +
                  sample.to_string() + " in " + count_of(classes, "class", "classes") +
                  ", but the data set has shape " + dataset.sample_shape().to_string() + " and " +
                  count_of(dataset.classes(), "class", "classes"));
    }
    options.model.classes = classes;
  }

  // A batch larger than the data set only means that there is one batch.
  const Index rows = std::min(options.training.batch_size, dataset.size());
  Network<T> network(build_model(options.model), stage.in<T>().make_executor(options.stage),
                     [&](const Program& program) {
                       return stage.in<T>().rewritten(program, options.stage, rows);
                     });
  network.load(rows, announce_size);
  copy_parameters_in(network, checkpoint.parameters, "the checkpoint " + options.load.string());

  print_header(
      stage, options,
      count_of(dataset.size(), (is_single_file(options.data) ? "" : "test ") + unit_of(dataset)),
      dataset, network.model.parameter_count());
  if (stage.describe_ranks) std::cout << stage.describe_ranks(options.stage, false) << '\n';
  std::cout << "load   " << options.load.string();
  if (!checkpoint.model.empty()) std::cout << ", after epoch " << checkpoint.epoch;
  std::cout << '\n';
  for (const std::string& note : notes) print_note(note);
  std::cout << std::flush;

  Dataset own_shard;
  const Dataset& shard = ranks.shard(dataset, own_shard);
  Report report = report_of(stage, options, command);
  report.seed = checkpoint.seed;
  add_test(evaluate(network, shard, &ranks), report);
  if (options.latency) {
    report.latency = measure_paths(stage, network, dataset);
    print_latency(rows, report.latency);
  }
  if (!options.report.empty() && stage.is_first_rank()) write_report(options.report, report);
}

}  // namespace

void run_evaluate(const Stage& stage, RunOptions options, const std::vector<std::string>& command) {
  const Checkpoint checkpoint = load_checkpoint(options.load);
  if (stage.ranks != nullptr) {
    stage.ranks->expect_same("the checkpoint " + options.load.string(), digest_of(checkpoint));
  }
  expect_finite(checkpoint, "the checkpoint " + options.load.string());
  adopt_model(checkpoint, options.load, options);
  expect_described(checkpoint, options, options.load);
  with_adopted(options, options.load, [&] {
    const std::vector<std::string> notes = adopt_data(checkpoint, options, false);
    refuse_idle_options(options);
    Ranks alone;
    check_files(options, stage.ranks != nullptr ? *stage.ranks : alone);
    if (stage.prepare) stage.prepare(options.stage);
    if (options.latency && stage.ranks != nullptr && stage.ranks->count() > 1) {
      throw UsageError("--latency measures one process, and mpirun has started " +
                       with_thousands(stage.ranks->count()));
    }
    if (!options.report.empty() && stage.is_first_rank()) check_writable(options.report, "report");
    if (options.precision == "double") {
      evaluate_with<double>(stage, options, checkpoint, notes, command);
    } else {
      evaluate_with<float>(stage, options, checkpoint, notes, command);
    }
  });
}

}  // namespace stagewise
