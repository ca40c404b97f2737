#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/help.hpp"
#include "app/text.hpp"
#include "app/training_network.hpp"
#include "app/training_start.hpp"
#include "data/dataset.hpp"
#include "network/cost.hpp"
#include "network/print.hpp"
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
    return in.step_program(model, with_data(options.model), options.training.sgd, options.workers,
                           options.stage, rows);
  }
  return in.rewritten(build_training(model, options.training.sgd, options.workers).step,
                      options.stage, rows);
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
  return {model.sample, model.classes, std::vector<double>(numbers.begin(), numbers.end()),
          std::move(labels)};
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

/// The operations that a line stands for, behind #, in lines that fit.
std::string members_text(const Line& line) {
  std::istringstream lines(stagewise::wrapped(replaced_text(line), 92));
  std::string text;
  for (std::string part; std::getline(lines, part);) text += "      # " + part + '\n';
  return text;
}

/// Breaks a list of operands between two of them, so that its lines are at most 100 columns wide.
std::string wrapped(const std::string& operands) {
  constexpr std::size_t width = 100;
  const std::string indent(6, ' ');
  std::string text;
  std::string line = indent;
  for (std::size_t begin = 0; begin < operands.size();) {
    const std::size_t end = std::min(operands.find(", ", begin), operands.size() - 1) + 1;
    const std::string operand = operands.substr(begin, end - begin);
    if (line.size() > indent.size() + 2 && line.size() + operand.size() > width) {
      text += line + '\n';
      line = indent + " ";
    }
    line += operand;
    begin = end;
  }
  return text + line + '\n';
}

/// The lines of a step, as a table.
class ProgramTable {
 public:
  ProgramTable(const Stage& stage, const RunOptions& options)
      : stage_(stage),
        options_(options),
        described_(with_data(options.model)),
        is_double_(options.precision == "double") {
    const Model model = build_model(described_);
    program_ = is_double_ ? program_of<double>(stage, model, options)
                          : program_of<float>(stage, model, options);
    for (const Line& line :
         build_training(model, options.training.sgd, options.workers).step.lines) {
      before_.insert(name_of(line.operation));
    }
    // Alone, a process of several would wait for the others.
    if (!stage.counts_kernels || stage.ranks != nullptr) return;
    counters_ =
        is_double_ ? counters_of<double>(stage, options) : counters_of<float>(stage, options);
  }

  std::string text() const {
    const Index rows = options_.training.batch_size;
    const std::vector<Column> columns = {{"line", 4},
                                         {"  operation", 34, true},
                                         {stage_.folder.empty() ? "" : "change", 11, true},
                                         {"bytes", 8},
                                         {"ops", 8},
                                         {"  computed by", 0, true}};
    std::ostringstream out;
    out << "\na training step of " << describe(described_) << ", " << options_.precision
        << ", batch " << with_thousands(rows) << ": "
        << count_of(std::ssize(program_.lines), "line") << "\n\n"
        << heading_of(columns);
    Cost all;
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      const Line& line = program_.lines[i];
      const Cost cost = cost_of(program_, line, rows, is_double_ ? 8 : 4);
      all += cost;
      const std::string name = name_of(line.operation);
      out << row_of(columns,
                    {std::to_string(i + 1), "  " + name + (line.replaces.empty() ? "" : "*"),
                     change(line), with_short_prefix(cost.bytes),
                     with_short_prefix(cost.operations), "  " + file_of(line)})
          << wrapped(operands_text(program_, line.operation, rows));
      if (!line.replaces.empty()) out << members_text(line);
      const auto counted = counters_.find(line_text(program_, line));
      if (counted != counters_.end()) out << counters_text(counted->second);
    }
    out << row_of(columns, {"", "  all", "", with_short_prefix(all.bytes),
                            with_short_prefix(all.operations), ""});
    const bool has_fused = std::any_of(program_.lines.begin(), program_.lines.end(),
                                       [](const Line& line) { return !line.replaces.empty(); });
    if (has_fused) out << "\n* one line instead of those behind #\n";
    return out.str();
  }

 private:
  /// "      = 1 kernel: 2.1 MB asked for, 4.0 sectors a request, 12 bank conflicts".
  static std::string counters_text(const KernelCounters& counters) {
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

  std::string file_of(const Line& line) const {
    const auto file = stage_.files.find(name_of(line.operation));
    return file == stage_.files.end() ? "-" : file->second;
  }

  /// What is new in this stage: the file that computes the line is its own, or no stage before it
  /// has such a line.
  std::string change(const Line& line) const {
    if (stage_.folder.empty()) return "";
    if (line.replaces.empty() && !before_.contains(name_of(line.operation))) return "new line";
    if (!file_of(line).starts_with(stage_.folder)) return "";
    return line.replaces.empty() ? "new kernel" : "fused";
  }

  const Stage& stage_;
  const RunOptions& options_;
  ModelOptions described_;
  bool is_double_;
  Program program_;
  std::set<std::string> before_;  ///< the operations of the step that no stage has changed
  std::map<std::string, KernelCounters> counters_;  ///< of lines by their names, where counted
};

}  // namespace

void run_info(const Stage& stage, RunOptions options, bool shows_program) {
  const std::string device = stage.device();  // first, as it fails without a GPU
  std::string table;
  if (shows_program) {
    // A process alone shows what two would do.
    settle(stage, options, stage.ranks != nullptr ? std::max(stage.ranks->count(), 2) : 1);
    if (stage.ranks != nullptr && stage.ranks->count() == 1) options.workers.workers = 2;
    drop_idle_options(stage, options);
    table = ProgramTable(stage, options).text();
  } else if (stage.is_first_rank()) {
    for (const std::string& name : options.given) {
      note_idle(stage.program, name, "is for info --program");
    }
  }
  // "Stage N: loops" after the program's name would repeat the number.
  const std::size_t colon = stage.summary.find(": ");
  const bool is_numbered = stage.summary.starts_with("Stage ") && colon != std::string::npos;
  std::cout << stage.program << ": "
            << (is_numbered ? stage.summary.substr(colon + 2) : stage.summary) << '\n'
            << "runs on    " << device << '\n'
            << "version    " << version_text() << '\n';
  for (const std::string& library : stage.libraries()) {
    std::cout << "library    " << library << '\n';
  }
  std::cout << table;
}

}  // namespace stagewise
