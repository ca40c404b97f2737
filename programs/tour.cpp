/// @file
/// The tour: every stage trains the same small network on the same digits, is compared with the
/// stage before, and gets a row in a table. This is what `./run.sh` ends with.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/program.hpp"
#include "app/status_line.hpp"
#include "app/text.hpp"
#include "io/checkpoint.hpp"
#include "tensor/error.hpp"
#include "verify/compare.hpp"

namespace {

using namespace stagewise;
namespace fs = std::filesystem;

/// What every stage trains: a fixed part of the digits. With sigmoid units, because at the kink of
/// a relu, a rounding difference can lead to a different network; in double, because only then does
/// agreement to ten digits say something about the code rather than the arithmetic.
const std::vector<std::string> training = {
    "train",  "--dataset", "digits", "--train-limit",   "2000",    "--hidden",
    "64",     "--epochs",  "3",      "--activation",    "sigmoid", "--precision",
    "double", "--seed",    "1",      "--learning-rate", "0.5"};
constexpr double bound = 1e-10;

/// How a stage that runs in several processes is started.
const std::string stage_of_processes = "stage05_mpi";
const std::vector<std::string> launcher = {"mpirun",          "-n",        "2",
                                           "--oversubscribe", "--bind-to", "none"};

/// One row of the table.
struct Row {
  std::string stage;
  std::string device;
  double seconds = 0;  ///< of the fastest epoch, since the first one includes warming up
  double images_per_second = 0;
  double loss = 0;
  double accuracy = 0;
  std::optional<double> difference;  ///< from the stage before; none for the first
  bool cuda_on_cpu = false;
  std::vector<ParameterValues> parameters;
};

/// Runs a program to its end, with its standard output written to a new file.
/// @return its exit code; 128 + N if signal N ended it.
int run(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<std::string> copies = words;  // the call takes pointers to non-const strings
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(words[0] + " cannot be started: " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void read_report(const fs::path& path, Row& row) {
  try {
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file);
    row.device = json.at("device");
    row.cuda_on_cpu = json.at("cuda_on_cpu");
    row.loss = json.at("test_loss");
    row.accuracy = json.at("test_accuracy");
    for (const auto& epoch : json.at("epochs")) {
      const double seconds = epoch.at("seconds");
      if (row.seconds > 0 && seconds >= row.seconds) continue;
      row.seconds = seconds;
      row.images_per_second = epoch.at("images_per_second");
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(row.stage + " did not write a report to " + path.string() +
                " that the tour understands; is it a program of a stage?");
  }
}

/// A tour replaces only the files of an earlier tour: it marks its folder.
void expect_own(const fs::path& folder) {
  const fs::path mark = folder / ".tour";
  if (!fs::is_empty(folder) && !fs::exists(mark)) {
    throw Error("the folder " + folder.string() +
                " has files that no tour has written; --output needs one that is new or empty");
  }
  std::ofstream file(mark);
}

Row visit(const std::string& program, const fs::path& folder) {
  const std::string name = fs::path(program).filename().string();
  const fs::path checkpoint = folder / (name + ".h5");
  const fs::path report = folder / (name + ".json");
  const fs::path log = folder / (name + ".log");

  // An earlier tour's files must not pass for this one's. If one is a link, the link is removed.
  std::error_code ignored;
  for (const fs::path& earlier : {checkpoint, report, log}) fs::remove(earlier, ignored);

  std::vector<std::string> words;
  if (name == stage_of_processes) words = launcher;
  words.push_back(program);
  words.insert(words.end(), training.begin(), training.end());
  words.insert(words.end(), {"--save", checkpoint.string(), "--report", report.string()});
  const int code = run(words, log);
  if (code != 0) {
    throw Error(name + " ended with exit code " + std::to_string(code) +
                "; what it printed is above and in " + log.string());
  }

  Row row{.stage = name};
  read_report(report, row);
  row.parameters = load_checkpoint(checkpoint).parameters;
  return row;
}

/// Three significant digits: "1.00x", "12.3x", "1,366x".
std::string factor(double value) {
  if (value >= 99.95) return with_thousands(std::llround(value)) + "x";
  return fixed(value, value < 9.995 ? 2 : 1) + "x";
}

std::string scientific(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", value);
  return text.data();
}

/// "CPU" from "CPU (AMD EPYC, one core)"; with a star if the CPU emulates the GPU.
std::string kind_of_device(const Row& row) {
  if (row.cuda_on_cpu) return "CPU*";
  return row.device.substr(0, row.device.find(" ("));
}

std::string verdict(const Row& row) {
  if (!row.difference) return "-";
  return *row.difference <= bound ? "equal" : "DIFFERS";  // false for NaN
}

/// At most 80 columns wide, so that it does not wrap on a terminal.
void print_table(const std::vector<Row>& rows) {
  constexpr std::size_t columns = 10;
  using Cells = std::array<std::string, columns>;
  std::vector<Cells> lines = {
      {"stage", "on", "epoch", "images/s", "vs 01", "prev", "loss", "acc", "diff", "verdict"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const std::string prefix = "stage";
    lines.push_back({row.stage.starts_with(prefix) ? row.stage.substr(prefix.size()) : row.stage,
                     kind_of_device(row), duration(row.seconds), rate(row.images_per_second),
                     factor(rows.front().seconds / row.seconds),
                     i > 0 ? factor(rows[i - 1].seconds / row.seconds) : "-", fixed(row.loss, 3),
                     fixed(row.accuracy, 3), row.difference ? scientific(*row.difference) : "-",
                     verdict(row)});
  }
  std::array<std::size_t, columns> widths{};
  for (const Cells& line : lines) {
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  for (const Cells& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string space(widths[c] - line[c].size(), ' ');
      const bool is_text = c < 2 || c + 1 == columns;
      text += (c == 0 ? "" : " ") + (is_text ? line[c] + space : space + line[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    std::cout << text << '\n';
  }
}

int tour(const std::vector<std::string>& programs, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("the folder " + folder.string() + " cannot be made: " + error.message());
  expect_own(folder);

  StatusLine status;
  std::vector<Row> rows;
  for (const std::string& program : programs) {
    status.show((fs::path(program).filename().string() + " trains").c_str());
    Row row = visit(program, folder);
    if (!rows.empty()) {
      row.difference = largest_difference(
          compare_parameters(rows.back().parameters, row.parameters, rows.back().stage, row.stage));
    }
    rows.push_back(std::move(row));
  }
  status.clear();

  std::cout << "2,000 digits, 784-64-10 sigmoid in double, batches of 100, test set of 2,000\n\n";
  print_table(rows);
  std::cout << "\nepoch    time of the fastest of 3 epochs   vs 01, prev  speed-up over stage 01\n"
               "loss     on the test set, as is acc                      and the stage before\n"
               "diff     largest relative difference of a parameter from the stage before,\n"
               "         equal up to "
            << scientific(bound) << '\n';
  for (const Row& row : rows) {
    if (row.stage == stage_of_processes) {
      std::cout << "05_mpi   two processes, started by mpirun, share every batch\n";
    }
  }
  std::string last_device;
  for (const Row& row : rows) {
    if (row.device == last_device) continue;
    std::string kind = kind_of_device(row);
    kind.resize(std::max<std::size_t>(kind.size(), 9), ' ');
    std::cout << kind << row.device
              << (row.cuda_on_cpu ? ": its times mean nothing about GPUs" : "") << '\n';
    last_device = row.device;
  }
  const bool agrees = std::none_of(rows.begin(), rows.end(),
                                   [](const Row& row) { return verdict(row) == "DIFFERS"; });
  return agrees ? 0 : 1;
}

}  // namespace

// Declaring options throws only if a declaration is wrong, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app(
      "Trains the same small network with every stage and prints a table that compares them. Ends "
      "with 1 if a stage fails, or disagrees with the one before.",
      "tour");
  std::vector<std::string> programs;
  std::string folder;
  app.add_option("--stage", programs, "the stages' programs, in order")
      ->required()
      ->type_name("PROGRAM...");
  app.add_option("--output", folder,
                 "folder for checkpoints, reports and logs; replaces an earlier tour's")
      ->required()
      ->type_name("DIR");
  return run_program(app, argc, argv, [&] { return tour(programs, folder); });
}
