#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/help.hpp"
#include "app/text.hpp"
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

/// "1.6 M".
std::string with_prefix(double number) {
  const char* prefix = "";
  for (const char* const next : {" k", " M", " G", " T"}) {
    if (number < 999.5) break;
    number /= 1000;
    prefix = next;
  }
  return fixed(number, number < 99.95 && *prefix != '\0' ? 1 : 0) + prefix;
}

/// A line of the table, in which texts have columns of their own.
std::string columns(const std::vector<std::pair<std::string, std::size_t>>& texts) {
  std::string line;
  for (const auto& [text, width] : texts) {
    line += text + std::string(std::max(width, text.size() + 1) - text.size(), ' ');
  }
  return line;
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
  }

  std::string text() const {
    const Index rows = options_.training.batch_size;
    std::ostringstream out;
    out << "\na training step of " << describe(described_) << ", " << options_.precision
        << ", batch " << with_thousands(rows) << ": "
        << count_of(std::ssize(program_.lines), "line") << "\n\n"
        << row("line", "operation", stage_.folder.empty() ? "" : "change", "bytes", "ops",
               "computed by");
    Cost all;
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      const Line& line = program_.lines[i];
      const Cost cost = cost_of(program_, line, rows, is_double_ ? 8 : 4);
      all += cost;
      const std::string name = name_of(line.operation);
      out << row(std::to_string(i + 1), name + (line.replaces.empty() ? "" : "*"), change(line),
                 with_prefix(cost.bytes), with_prefix(cost.operations), file_of(line))
          << wrapped(operands_text(program_, line.operation, rows));
      if (!line.replaces.empty()) out << members_text(line);
    }
    out << row("", "all", "", with_prefix(all.bytes), with_prefix(all.operations), "");
    const bool has_fused = std::any_of(program_.lines.begin(), program_.lines.end(),
                                       [](const Line& line) { return !line.replaces.empty(); });
    if (has_fused) out << "\n* one line instead of those behind #\n";
    return out.str();
  }

 private:
  static std::string row(const std::string& number, const std::string& operation,
                         const std::string& change, const std::string& bytes,
                         const std::string& operations, const std::string& file) {
    const std::string text =
        right(number, 4) + "  " +
        columns({{operation, 32}, {change, 11}, {right(bytes, 8), 8}, {right(operations, 8), 10}}) +
        file;
    return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }

  std::string file_of(const Line& line) const {
    const auto file = stage_.files.find(name_of(line.operation));
    return file == stage_.files.end() ? "-" : file->second;
  }

  /// What is new in this stage: the file that computes the line is its own or an experiment's, or
  /// no stage before it has such a line.
  std::string change(const Line& line) const {
    if (stage_.folder.empty()) return "";
    if (line.replaces.empty() && !before_.contains(name_of(line.operation))) return "new line";
    const std::string file = file_of(line);
    if (!file.starts_with(stage_.folder) && !file.starts_with("benchmarks/")) return "";
    return line.replaces.empty() ? "new kernel" : "fused";
  }

  const Stage& stage_;
  const RunOptions& options_;
  ModelOptions described_;
  bool is_double_;
  Program program_;
  std::set<std::string> before_;  ///< the operations of the step that no stage has changed
};

}  // namespace

void run_info(const Stage& stage, RunOptions options, bool shows_program) {
  const std::string device = stage.device();  // first, as it fails without a GPU
  std::string table;
  if (shows_program) {
    take_workers_of_ranks(stage, options);
    // A process alone shows what two would do.
    if (stage.workers_by_ranks(options.stage) == 1) options.workers.workers = 2;
    refuse_idle_options(options);
    table = ProgramTable(stage, options).text();
  } else if (!options.given.empty()) {
    throw UsageError("--" + *options.given.begin() + " is for info --program");
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
