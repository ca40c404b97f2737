#include "cli/run.hpp"

#include <filesystem>
#include <iostream>
#include <system_error>

#include "cli/text.hpp"
#include "io/data_sets/catalog.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// The option that names a file, and the file; empty if the option was not given.
struct NamedFile {
  std::string option;
  fs::path path;
  std::string what = {};  ///< a result's role
};

std::vector<NamedFile> results_of(const RunOptions& options) {
  return {{"--save", options.save, "checkpoint"},
          {"--save-best", options.save_best, "checkpoint"},
          {"--report", options.report, "report"},
          {"--csv", options.csv, "table"}};
}

void expect_different(const NamedFile& a, const NamedFile& b) {
  if (a.path.empty() || b.path.empty() || !is_same_file(a.path, b.path)) return;
  throw UsageError(a.option + " and " + b.option + " name the same file, " + a.path.string());
}

void expect_no_part_of_data(const NamedFile& result, const RunOptions& options) {
  if (result.path.empty()) return;
  for (const fs::path& file : files_of(options.data)) {
    if (!is_same_file(result.path, file)) continue;
    throw UsageError(result.option + " names a file of " +
                     (options.given.contains("dataset") ? "--dataset" : "the checkpoint's data set") + ", " +
                     file.string());
  }
}

/// The path for the rank that writes: others may be in another folder.
fs::path place_of(const fs::path& name, Ranks& ranks) {
  std::error_code ignored;
  return ranks.of_first(name.empty() ? "" : fs::absolute(name, ignored).string());
}

}  // namespace

std::string unit_of(const Dataset& dataset) { return dataset.sample_shape().rank() == 3 ? "image" : "sample"; }

void print_header(const Stage& stage, const RunOptions& options, const std::string& samples, const Shape& sample,
                  int classes, std::int64_t parameters) {
  std::cout << stage.program << " on " << stage.device() << '\n'
            << "data   " << escaped(options.data.name) << ": " << samples << " of "
            << (sample.rank() == 3 ? by_times(sample) : count_of(sample.elements(), "feature")) << ", "
            << count_of(classes, "class", "classes") << '\n'
            << "model  " << describe(options.model) << ", " << options.precision << ", "
            << count_of(parameters, "parameter") << '\n';
  if (stage.cuda_on_cpu) print_note("kernels run on the CPU here: times mean nothing about GPUs");
}

Report report_of(const Stage& stage, const RunOptions& options) {
  Report report = {.stage = stage.program,
                   .device = stage.device(),
                   .cuda_on_cpu = stage.cuda_on_cpu,
                   .command = options.command,
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
  std::cout << "test   loss " << loss_text(test.loss) << "  accuracy " << fixed(test.accuracy, 4) << "  ("
            << with_thousands(test.correct) << " of " << with_thousands(test.samples) << ")\n";
  report.test_loss = test.loss;
  report.test_accuracy = test.accuracy;
}

void print_note(const std::string& text) { std::cout << "note   " << escaped(text) << '\n'; }

void announce_size(double bytes) {
  constexpr double much = 2e9;
  if (bytes < much) return;
  print_note("the network needs at least " + size_text(bytes) + " of memory");
  std::cout << std::flush;
}

void check_files(const RunOptions& options, Ranks& ranks) {
  const NamedFile load = {"--load", options.load};
  const NamedFile resume = {"--resume", options.resume};
  const std::vector<NamedFile> results = results_of(options);
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = i + 1; j < results.size(); ++j) expect_different(results[i], results[j]);
  }
  for (const auto& [option, path, what] : results) {
    const NamedFile result = {option, place_of(path, ranks)};
    expect_different(load, result);
    expect_different({"--image", options.image}, result);
    if (option == "--report" || option == "--csv") expect_different(resume, result);
    expect_no_part_of_data(result, options);
  }
}

void check_results_writable(const Stage& stage, const RunOptions& options) {
  if (!stage.is_first_rank()) return;
  for (const auto& [option, path, what] : results_of(options)) {
    if (!path.empty()) check_writable(path, what);
  }
}

}  // namespace stagewise
