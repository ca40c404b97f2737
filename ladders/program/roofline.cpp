#include "ladders/program/roofline.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include "cuda/counters.hpp"
#include "cuda/device.hpp"
#include "io/file.hpp"
#include "io/report.hpp"
#include "tensor/error.hpp"

namespace stagewise::ladder {
namespace {

namespace fs = std::filesystem;

/// A new file, for who removes it again.
fs::path make_temporary_file() {
  std::error_code ignored;
  const fs::path folder = fs::temp_directory_path(ignored);
  std::string name = (folder / "ladder.XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) {
    throw Error("no file can be made in " + folder.string() +
                ", where a report is needed to draw the figure; choose one by --report FILE");
  }
  close(descriptor);
  return name;
}

void plot_roofline(const fs::path& report, const fs::path& figure) {
  std::cout << std::flush;
  // NOLINTNEXTLINE(cert-env33-c, concurrency-mt-unsafe): every word is quoted
  const int code = std::system(
      command_line({STAGEWISE_RUN_SH, "plot", "--no-install", "roofline", report.string(), "--output", figure.string()})
          .c_str());
  // Whoever interrupts the drawing means this program, too, which does not hear of it meanwhile.
  if (WIFEXITED(code) && WEXITSTATUS(code) == 128 + SIGINT) std::raise(SIGINT);
  if (code != 0) throw Error("the roofline was not drawn, for the reason above");
}

}  // namespace

void check_roofline(const fs::path& figure) {
  if (figure.extension() != ".svg" && figure.extension() != ".png") {
    throw UsageError("--roofline " + figure.string() + " must end in .svg or .png");
  }
  if (cuda::runs_on_cpu() && !cuda::counts_kernels()) {
    throw Error(
        "--roofline needs the times of a GPU, or counters: without a GPU, use "
        "build/cpu/bin/instrumented/ladder (cmake --build build/cpu --target ladder_instrumented)");
  }
  check_writable(figure, "figure");
}

void draw_roofline(const Results& results, const Options& options, const std::vector<std::string>& command) {
  if (!options.report.empty()) return plot_roofline(options.report, options.roofline);
  const fs::path report = make_temporary_file();
  std::error_code ignored;
  try {
    write_report(report, results, options, command);
    plot_roofline(report, options.roofline);
  } catch (...) {
    fs::remove(report, ignored);
    throw;
  }
  fs::remove(report, ignored);
}

}  // namespace stagewise::ladder
