#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/program.hpp"
#include "cli/run.hpp"
#include "cli/stage_network.hpp"
#include "cli/text.hpp"
#include "cli/training_start.hpp"
#include "data/dataset.hpp"
#include "network/cost.hpp"
#include "network/program.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// What the list is made for: images like the digits, or the neuron's only kind of sample.
ModelOptions with_data(ModelOptions model) {
  const bool is_neuron = model.name == "neuron";
  model.sample = is_neuron ? Shape{1} : Shape{28, 28, 1};
  model.classes = is_neuron ? 2 : 10;
  return model;
}

template <typename T>
Program program_of(const Stage& stage, const Model& model, const RunOptions& options) {
  const InPrecision<T>& in = stage.in<T>();
  const Index rows = options.training.batch_size;
  if (in.step_program) {
    return in.step_program(model, with_data(options.model), options.training.sgd, options.workers, options.stage, rows);
  }
  return in.rewritten(build_training(model, options.training.sgd, options.workers).step, options.stage, rows);
}

/// Made-up samples, one for each row of a batch.
Dataset made_up(const ModelOptions& model, Index rows) {
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < rows; ++i) labels.push_back(static_cast<std::int32_t>(i % model.classes));
  std::vector<std::uint8_t> numbers;
  for (Index i = 0; i < rows * model.sample.elements(); ++i) {
    numbers.push_back(static_cast<std::uint8_t>(i % 251));
  }
  if (model.sample.rank() > 1) {
    return {model.sample, model.classes, std::move(numbers), std::move(labels)};
  }
  return {model.sample, model.classes, std::vector<double>(numbers.begin(), numbers.end()), std::move(labels)};
}

/// What each line of a training step does, by its name. The step is executed, on made-up samples.
template <typename T>
std::map<std::string, KernelCounters> counters_of(const Stage& stage, RunOptions options) {
  options.model = with_data(options.model);
  const Index rows = options.training.batch_size;
  options.training.sgd.schedule.steps = options.training.epochs;
  const Dataset samples = made_up(options.model, rows);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0U);

  Network<T> network = make_network<T>(stage, options, build_model(options.model));
  std::string note;
  const Starts starts = starting_parameters(network.model, options, {}, note);
  const StepSetup<T> setup = {
      .network = network, .training_set = samples, .workers = options.workers, .max_rows = rows};
  const std::unique_ptr<Step> step = make_step<T>(stage, {.setup = setup,
                                                          .model = options.model,
                                                          .sgd = options.training.sgd,
                                                          .options = options.stage,
                                                          .starts = starts,
                                                          .timings = true});
  network.load(rows);
  network.executor->enable_timings();
  step->begin_epoch(order);
  step->run(0, rows);
  step->totals();
  std::map<std::string, KernelCounters> counters;
  for (const Timing& timing : network.executor->timings()) {
    counters[timing.operation] = timing.counters;
  }
  return counters;
}

/// "1.6 M".
std::string with_short_prefix(double number) {
  const char* prefix = "";
  for (const char* const next : {" k", " M", " G", " T"}) {
    if (number < 999.5) break;
    number /= 1000;
    prefix = next;
  }
  return fixed(number, number < 99.95 && *prefix != '\0' ? 1 : 0) + prefix;
}

/// The text in lines of at most 100 columns, each behind `indent`, broken behind a separator.
std::string indented(const std::string& text, char separator, const std::string& indent) {
  std::string result;
  std::string line = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size() - 1) + 1;
    const std::string part = text.substr(begin, end - begin);
    if (line.size() > indent.size() && line.size() + part.size() > 100) {
      result += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
      line = indent + (separator == ' ' ? "" : " ");
    }
    line += part;
    begin = end;
  }
  return result + line + '\n';
}

/// "      = 1 kernel: 2.1 MB asked for, 4.0 sectors a request, 12 bank conflicts".
std::string counters_text(const KernelCounters& counters) {
  const auto count = [](double number) { return static_cast<std::int64_t>(number); };
  std::string text = "      = " + count_of(count(counters.launches), "kernel");
  if (counters.copies > 0) {
    text += ", " + count_of(count(counters.copies), "copy or fill", "copies or fills");
  }
  if (counters.launches == 0) return text + '\n';
  text += ": " + with_short_prefix(counters.asked_bytes()) + "B asked for, " +
          fixed(counters.sectors_per_request(), 1) + " sectors a request";
  if (counters.bank_conflicts > 0) {
    text += ", " + count_of(count(counters.bank_conflicts), "bank conflict");
  }
  return text + '\n';
}

std::string file_of(const Stage& stage, const Line& line) {
  const auto file = stage.files.find(name_of(line.operation));
  return file == stage.files.end() ? "-" : file->second;
}

/// What is new in this stage: the file that computes the line is its own, or no stage before it has
/// such a line.
/// @param before the step as no stage has changed it.
std::string change_of(const Stage& stage, const Line& line, const Program& before) {
  if (stage.folder.empty()) return "";
  const std::string name = name_of(line.operation);
  const bool is_new =
      std::ranges::none_of(before.lines, [&](const Line& other) { return name_of(other.operation) == name; });
  if (line.replaces.empty() && is_new) return "new line";
  if (!file_of(stage, line).starts_with(stage.folder)) return "";
  return line.replaces.empty() ? "new kernel" : "fused";
}

/// The lines of a step, as a table.
template <typename T>
std::string table_of(const Stage& stage, const RunOptions& options) {
  const ModelOptions described = with_data(options.model);
  const Model model = build_model(described);
  const Program program = program_of<T>(stage, model, options);
  const Program before = build_training(model, options.training.sgd, options.workers).step;
  std::map<std::string, KernelCounters> counters;  // of lines by their names, where counted
  // Alone, a process of several would wait for the others.
  if (stage.counts_kernels && stage.ranks == nullptr) counters = counters_of<T>(stage, options);

  const Index rows = options.training.batch_size;
  const std::vector<Column> columns = {
      {"line", 4}, {"  operation", 34, true}, {stage.folder.empty() ? "" : "change", 11, true}, {"bytes", 8},
      {"ops", 8},  {"  computed by", 0, true}};
  std::ostringstream out;
  out << "\na training step of " << describe(described) << ", " << options.precision << ", batch "
      << with_thousands(rows) << ": " << count_of(std::ssize(program.lines), "line") << "\n\n"
      << heading_of(columns);
  Cost all;
  bool has_fused = false;
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& line = program.lines[i];
    const Cost cost = cost_of(program, line, rows, sizeof(T));
    const bool is_fused = !line.replaces.empty();
    all += cost;
    has_fused = has_fused || is_fused;
    out << row_of(columns, {std::to_string(i + 1), std::string("  ") + name_of(line.operation) + (is_fused ? "*" : ""),
                            change_of(stage, line, before), with_short_prefix(cost.bytes),
                            with_short_prefix(cost.operations), "  " + file_of(stage, line)})
        << indented(operands_text(program, line.operation, rows), ',', "      ");
    if (is_fused) out << indented(replaced_text(line), ' ', "      # ");
    const auto counted = counters.find(line_text(program, line));
    if (counted != counters.end()) out << counters_text(counted->second);
  }
  out << row_of(columns, {"", "  all", "", with_short_prefix(all.bytes), with_short_prefix(all.operations), ""});
  if (has_fused) out << "\n* one line instead of those behind #\n";
  return out.str();
}

}  // namespace

void run_info(const Stage& stage, RunOptions options) {
  const std::string device = stage.device();  // first, as it fails without a GPU
  std::string table;
  if (options.shows_program) {
    // A process alone shows what two would do.
    settle(stage, options, stage.ranks != nullptr ? std::max(stage.ranks->count(), 2) : 1);
    if (stage.ranks != nullptr && stage.ranks->count() == 1) options.workers.workers = 2;
    drop_idle_options(stage, options);
    table = options.precision == "double" ? table_of<double>(stage, options) : table_of<float>(stage, options);
  } else if (stage.is_first_rank()) {
    for (const std::string& name : options.given) {
      note_idle(stage.program, name, "is for info --program");
    }
  }
  // "Stage N: loops" after the program's name would repeat the number.
  const std::size_t colon = stage.summary.find(": ");
  const bool is_numbered = stage.summary.starts_with("Stage ") && colon != std::string::npos;
  std::cout << stage.program << ": " << (is_numbered ? stage.summary.substr(colon + 2) : stage.summary) << '\n'
            << "runs on    " << device << '\n'
            << "version    " << version_text() << '\n';
  for (const std::string& library : stage.libraries()) {
    std::cout << "library    " << library << '\n';
  }
  std::cout << table;
}

}  // namespace stagewise
