/// @file
/// The tour: every stage trains the same small network on the same digits, is compared with the
/// stage before, and gets a row in a table. Without a GPU, a second table says what a step of each
/// stage asks of one. This is what `./run.sh` ends with.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include "app/child.hpp"
#include "app/program.hpp"
#include "app/status_line.hpp"
#include "app/text.hpp"
#include "io/checkpoint.hpp"
#include "tensor/error.hpp"
#include "tensor/kernel_counters.hpp"
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

/// What is counted: a single step of a network that has also been measured on a GPU.
const std::vector<std::string> counted_step = {
    "train", "--dataset", "digits", "--train-limit", "1000", "--test-limit", "1", "--hidden",
    "256",   "--epochs",  "1",      "--batch-size",  "1000", "--explain"};
constexpr double counted_images = 1000;

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

/// What a step of a stage asks of each GPU.
struct CountedRow {
  std::string stage;
  KernelCounters counters;
  double floor_seconds = 0;  ///< 0: no kernels
};

/// Reads a stage's report by `take`.
/// @param kind of program that would have written what is missing.
void read_report(const std::string& stage, const fs::path& path, const std::string& kind,
                 const std::function<void(const nlohmann::json&)>& take) {
  try {
    std::ifstream file(path);
    take(nlohmann::json::parse(file));
  } catch (const nlohmann::json::exception&) {
    throw Error(stage + " did not write a report to " + path.string() +
                " that the tour understands; is it a program of " + kind + "?");
  }
}

void take_training(const nlohmann::json& json, Row& row) {
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
}

void take_counters(const nlohmann::json& json, CountedRow& row) {
  for (const auto& line : json.at("timings")) {
    const auto& counters = line.at("counters");
    const auto of = [&](const char* name) { return counters.at(name).get<double>(); };
    KernelCounters one;
    one.launches = of("launches");
    one.copies = of("copies");
    one.loads = of("loads");
    one.load_sectors = of("load_sectors");
    one.stores = of("stores");
    one.store_sectors = of("store_sectors");
    one.distinct_bytes = of("distinct_bytes");
    one.shared_cycles = of("shared_cycles");
    one.bank_conflicts = of("bank_conflicts");
    row.counters += one;
    row.floor_seconds += line.at("counted_floor_seconds").get<double>();
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

/// Runs a stage's program, in several processes if it is made for them, with its output in a log.
/// @param files that it writes.
void run_stage_program(const std::string& program, const std::vector<std::string>& command,
                       const fs::path& log, const std::vector<fs::path>& files) {
  const std::string name = fs::path(program).filename().string();

  // An earlier tour's files must not pass for this one's. If one is a link, the link is removed.
  std::error_code ignored;
  fs::remove(log, ignored);
  for (const fs::path& earlier : files) fs::remove(earlier, ignored);

  std::vector<std::string> words;
  if (name == stage_of_processes) words = launcher;
  words.push_back(program);
  words.insert(words.end(), command.begin(), command.end());
  const int code = run_child(words, log);
  if (code != 0) {
    throw Error(name + " ended with exit code " + std::to_string(code) +
                "; what it printed is above and in " + log.string());
  }
}

Row visit(const std::string& program, const fs::path& folder) {
  const std::string name = fs::path(program).filename().string();
  const fs::path checkpoint = folder / (name + ".h5");
  const fs::path report = folder / (name + ".json");
  std::vector<std::string> command = training;
  command.insert(command.end(), {"--save", checkpoint.string(), "--report", report.string()});
  run_stage_program(program, command, folder / (name + ".log"), {checkpoint, report});
  Row row{.stage = name};
  read_report(name, report, "a stage",
              [&](const nlohmann::json& json) { take_training(json, row); });
  row.parameters = load_checkpoint(checkpoint).parameters;
  return row;
}

CountedRow count(const std::string& program, const fs::path& folder) {
  const std::string name = fs::path(program).filename().string();
  const fs::path report = folder / (name + "_counters.json");
  std::vector<std::string> command = counted_step;
  command.insert(command.end(), {"--report", report.string()});
  if (name == stage_of_processes) command.insert(command.end(), {"--transport", "peer"});
  run_stage_program(program, command, folder / (name + "_counters.log"), {report});
  CountedRow row{.stage = name};
  read_report(name, report, "the target observed_stages",
              [&](const nlohmann::json& json) { take_counters(json, row); });
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

/// "02_naive_cuda" of "stage02_naive_cuda".
std::string short_name(const std::string& stage) {
  const std::string prefix = "stage";
  return stage.starts_with(prefix) ? stage.substr(prefix.size()) : stage;
}

using Cells = std::vector<std::string>;

/// Prints lines of cells, the first of them the headings. The first columns are texts.
void print_cells(const std::vector<Cells>& lines, const std::set<std::size_t>& texts) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const Cells& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  for (const Cells& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string space(widths[c] - line[c].size(), ' ');
      text += (c == 0 ? "" : " ") + (texts.contains(c) ? line[c] + space : space + line[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    std::cout << text << '\n';
  }
}

/// At most 80 columns wide, so that it does not wrap on a terminal.
/// @param has_times whether the times say something about the stages.
void print_table(const std::vector<Row>& rows, bool has_times) {
  const auto keep = [&](Cells cells) {
    constexpr std::ptrdiff_t first_time = 2;
    constexpr std::ptrdiff_t times = 4;
    if (!has_times) {
      cells.erase(cells.begin() + first_time, cells.begin() + first_time + times);
    }
    return cells;
  };
  std::vector<Cells> lines = {keep(
      {"stage", "on", "epoch", "images/s", "vs 01", "prev", "loss", "acc", "diff", "verdict"})};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    lines.push_back(keep({short_name(row.stage), kind_of_device(row), duration(row.seconds),
                          rate(row.images_per_second), factor(rows.front().seconds / row.seconds),
                          i > 0 ? factor(rows[i - 1].seconds / row.seconds) : "-",
                          fixed(row.loss, 3), fixed(row.accuracy, 3),
                          row.difference ? scientific(*row.difference) : "-", verdict(row)}));
  }
  print_cells(lines, {0, 1, lines.front().size() - 1});
}

void print_legend(const std::vector<Row>& rows, bool has_times) {
  if (has_times) {
    std::cout
        << "\nepoch    time of the fastest of 3 epochs   vs 01, prev  speed-up over stage 01\n"
           "loss     on the test set, as is acc                      and the stage before\n";
  } else {
    std::cout << "\nloss     on the test set, as is acc, the accuracy\n";
  }
  std::cout << "diff     largest relative difference of a parameter from the stage before,\n"
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
}

/// What a GPU has been measured to do: by stage the images a second, and on what.
struct Measured {
  double images_per_second = 0;
  std::string on;
};

std::map<std::string, Measured> read_measured(const fs::path& path) {
  std::map<std::string, Measured> all;
  try {
    std::ifstream file(path);
    if (!file) throw Error("the file " + path.string() + " of --measured cannot be read");
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& [stage, values] : json.at("stages").items()) {
      all[stage] = {values.at("images_per_second"), values.at("on")};
    }
  } catch (const nlohmann::json::exception&) {
    throw Error("the file " + path.string() + " of --measured has no results of stages");
  }
  return all;
}

/// What a step of each stage asks of a GPU, what it takes at least, and what it has taken.
void print_counters(const std::vector<CountedRow>& rows,
                    const std::map<std::string, Measured>& measured) {
  std::cout << "\nWhat a step asks of each GPU, counted: 784-256-10, relu, float, 1,000 images\n\n";
  const auto number = [](double value) { return with_thousands(std::llround(value)); };
  std::vector<Cells> lines = {
      {"stage", "kernels", "copies", "requests", "KB", "sectors", "floor", "measured", "on"}};
  for (const CountedRow& row : rows) {
    const KernelCounters& counters = row.counters;
    Cells cells = {short_name(row.stage)};
    if (row.floor_seconds > 0) {
      cells.insert(cells.end(),
                   {number(counters.launches), number(counters.copies),
                    number((counters.loads + counters.stores) / counted_images),
                    number(counters.asked_bytes() / counted_images / 1000),
                    fixed(counters.sectors_per_request(), 1), duration(row.floor_seconds)});
    } else {
      cells.resize(lines.front().size() - 2, "-");
    }
    const auto found = measured.find(row.stage);
    const bool is_known = found != measured.end();
    cells.push_back(is_known ? duration(counted_images / found->second.images_per_second) : "-");
    cells.push_back(is_known ? found->second.on : "-");
    lines.push_back(cells);
  }
  print_cells(lines, {0, lines.front().size() - 1});
  std::cout << "\nkernels, copies  that a step launches\n"
               "requests, KB     of a GPU's warps to global memory, for each of the 1,000 images\n"
               "sectors          a request takes: 4 for 32 floats, 16 for vectors of 4\n"
               "floor            about the least that an H200 takes for this: the bytes at the\n"
               "                 rate of its memory and caches, the operations at its peak, 2 us\n"
               "                 a launch\n"
               "measured         what a step took on that device; from benchmarks/results, of\n"
               "                 several days and hosts\n";
}

/// What the command line says.
struct Options {
  std::vector<std::string> programs;
  std::vector<std::string> counting_programs;  ///< of stages too, with kernels that are counted
  fs::path measured;
  fs::path folder;
};

int tour(const Options& options) {
  const fs::path& folder = options.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("the folder " + folder.string() + " cannot be made: " + error.message());
  expect_own(folder);
  std::map<std::string, Measured> measured;
  if (!options.measured.empty()) measured = read_measured(options.measured);

  StatusLine status;
  std::vector<Row> rows;
  for (const std::string& program : options.programs) {
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
  const bool has_times = options.counting_programs.empty();
  print_table(rows, has_times);
  print_legend(rows, has_times);
  std::cout << std::flush;

  std::vector<CountedRow> counted;
  std::vector<std::future<CountedRow>> counts;
  for (const std::string& program : options.counting_programs) {
    counts.push_back(std::async(std::launch::async, [&] { return count(program, folder); }));
  }
  for (std::future<CountedRow>& one : counts) {
    status.show("counting what a step asks of a GPU");
    counted.push_back(one.get());
  }
  status.clear();
  if (!counted.empty()) {
    for (const Row& row : rows) {  // stages without kernels
      if (!row.cuda_on_cpu) counted.insert(counted.begin(), CountedRow{.stage = row.stage});
    }
    print_counters(counted, measured);
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
  Options options;
  app.add_option("--stage", options.programs, "the stages' programs, in order")
      ->required()
      ->type_name("PROGRAM...");
  app.add_option("--counting", options.counting_programs,
                 "the same stages' programs of the target observed_stages: instead of times, "
                 "shows what their kernels ask of a GPU")
      ->type_name("PROGRAM...");
  app.add_option("--measured", options.measured,
                 "results of a GPU to be shown beside these counters")
      ->type_name("FILE");
  app.add_option("--output", options.folder,
                 "folder for checkpoints, reports and logs; replaces an earlier tour's")
      ->required()
      ->type_name("DIR");
  return run_program(app, argc, argv, [&] { return tour(options); });
}
