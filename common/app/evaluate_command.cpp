#include <algorithm>
#include <iostream>

#include "app/commands.hpp"
#include "app/text.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

template <typename T>
void evaluate_with(const Stage& stage, RunOptions options, const Checkpoint& checkpoint,
                   const std::vector<std::string>& command) {
  const Dataset dataset = load_for_evaluation(options.data, options.encoding);
  options.model.sample = dataset.sample_shape();
  options.model.classes = dataset.classes();
  Shape sample;
  int classes = 0;
  if (read_data_shape(checkpoint, sample, classes)) {
    if (sample != dataset.sample_shape() || dataset.classes() > classes) {
      throw Error("the checkpoint " + options.load.string() + " was trained on samples of shape " +
                  sample.to_string() + " in " + std::to_string(classes) +
                  " classes, but the data set has shape " + dataset.sample_shape().to_string() +
                  " and " + std::to_string(dataset.classes()) + " classes");
    }
    options.model.classes = classes;
  }

  // A batch larger than the data set only means that there is one batch.
  const Index rows = std::min(options.training.batch_size, dataset.size());
  const auto backend = stage.make_backend<T>(options.stage);
  const auto network = build_model(*backend, options.model, rows, GraphMode::inference);
  copy_parameters_in(network->graph, checkpoint.parameters,
                     "the checkpoint " + options.load.string());

  const Evaluation result = evaluate(*network, dataset);
  std::cout << "loss " << fixed(result.loss, 6) << "  accuracy " << fixed(result.accuracy, 4)
            << "  (" << with_thousands(result.correct) << " of " << with_thousands(result.samples)
            << ")\n";

  Report report{.stage = stage.program,
                .device = stage.device(),
                .cuda_on_cpu = stage.cuda_on_cpu,
                .command = command,
                .model = describe(options.model),
                .dataset = options.data.name,
                .precision = options.precision,
                .batch_size = options.training.batch_size,
                .seed = checkpoint.seed};
  report.test_loss = result.loss;
  report.test_accuracy = result.accuracy;
  if (options.latency) {
    report.latency = measure_latency(*network, dataset);
    std::cout << "latency of a batch of " << with_thousands(rows) << ", host to host, in "
              << count_of(report.latency->samples, "run") << ": median "
              << duration(report.latency->median_seconds) << ",\n90 % between "
              << duration(report.latency->p5_seconds) << " and "
              << duration(report.latency->p95_seconds) << '\n';
    if (stage.cuda_on_cpu) {
      std::cout << "kernels run on the CPU here: times mean nothing about GPUs\n";
    }
  }
  if (!options.report.empty()) write_report(options.report, report);
}

}  // namespace

void run_evaluate(const Stage& stage, RunOptions options, const std::vector<std::string>& command) {
  const Checkpoint checkpoint = load_checkpoint(options.load);
  adopt_model(checkpoint, options.load, options);
  refuse_idle_options(options);
  if (!options.report.empty()) check_writable(options.report, "report");
  if (options.precision == "double") {
    evaluate_with<double>(stage, options, checkpoint, command);
  } else {
    evaluate_with<float>(stage, options, checkpoint, command);
  }
}

}  // namespace stagewise
