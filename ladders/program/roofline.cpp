#include "ladders/program/roofline.hpp"

#include <cstdlib>
#include <iostream>
#include <optional>
#include <system_error>

#include "app/child.hpp"
#include "cuda/counters.hpp"
#include "cuda/device.hpp"
#include "io/file.hpp"
#include "tensor/error.hpp"

namespace stagewise::ladder {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed again.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ladder.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Error("no folder can be made in " + fs::temp_directory_path().string() +
                  ", where a report is needed to draw the figure; choose one by --report FILE");
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void check_roofline(const fs::path& figure) {
  if (figure.extension() != ".svg" && figure.extension() != ".png") {
    throw UsageError("--roofline " + figure.string() + " must end in .svg or .png");
  }
  if (cuda::runs_on_cpu() && !cuda::counts_kernels()) {
    throw Error(
        "--roofline needs the times of a GPU, or counters: without a GPU, use "
        "build/cpu/bin/observed/ladder (cmake --build build/cpu --target ladder_observed)");
  }
  check_writable(figure, "figure");
}

void draw_roofline(const Results& results, const Options& options,
                   const std::vector<std::string>& command) {
  std::optional<TemporaryFolder> folder;
  fs::path report = options.report;
  if (report.empty()) {
    report = folder.emplace().path() / "ladder.json";
    write_report(report, results, options, command);
  }
  std::cout << std::flush;
  const int code = run_child({STAGEWISE_RUN_SH, "plot", "--no-install", "roofline", report.string(),
                              "--output", options.roofline.string()});
  if (code != 0) throw Error("the roofline was not drawn, for the reason above");
}

}  // namespace stagewise::ladder
