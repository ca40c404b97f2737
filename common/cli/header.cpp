#include "cli/header.hpp"

#include <iostream>

#include "cli/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

std::string unit_of(const Dataset& dataset) {
  return dataset.sample_shape().rank() == 3 ? "image" : "sample";
}

void print_header(const Stage& stage, const RunOptions& options, const std::string& samples,
                  const Shape& sample, int classes, std::int64_t parameters) {
  std::cout << stage.program << " on " << stage.device() << '\n'
            << "data   " << escaped(options.data.name) << ": " << samples << " of "
            << (sample.rank() == 3 ? by_times(sample) : count_of(sample.elements(), "feature"))
            << ", " << count_of(classes, "class", "classes") << '\n'
            << "model  " << describe(options.model) << ", " << options.precision << ", "
            << count_of(parameters, "parameter") << '\n';
  if (stage.cuda_on_cpu) print_note("kernels run on the CPU here: times mean nothing about GPUs");
}

Report report_of(const Stage& stage, const RunOptions& options,
                 const std::vector<std::string>& command) {
  Report report = {.stage = stage.program,
                   .device = stage.device(),
                   .cuda_on_cpu = stage.cuda_on_cpu,
                   .command = command,
                   .model = describe(options.model),
                   .dataset = options.data.name,
                   .precision = options.precision,
                   .batch_size = options.training.batch_size,
                   .seed = options.training.seed};
  if (stage.ranks != nullptr) report.ranks = stage.ranks->count();
  if (options.workers.workers > 1) report.workers = options.workers.workers;
  return report;
}

void add_test(const Evaluation& test, Report& report) {
  std::cout << "test   loss " << loss_text(test.loss) << "  accuracy " << fixed(test.accuracy, 4)
            << "  (" << with_thousands(test.correct) << " of " << with_thousands(test.samples)
            << ")\n";
  report.test_loss = test.loss;
  report.test_accuracy = test.accuracy;
}

void print_note(const std::string& text) {
  std::cout << "note   " << escaped(text) << '\n';
}

void announce_size(double bytes) {
  constexpr double much = 2e9;
  if (bytes < much) return;
  print_note("the network needs at least " + size_text(bytes) + " of memory");
  std::cout << std::flush;
}

}  // namespace stagewise
