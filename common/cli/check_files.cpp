#include "cli/check_files.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "io/data_sets/catalog.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"

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
    throw UsageError(
        result.option + " names a file of " +
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
