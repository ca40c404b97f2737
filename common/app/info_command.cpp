#include <algorithm>
#include <iostream>
#include <sstream>

#include "app/commands.hpp"
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

std::string file_of(const Stage& stage, const Line& line) {
  const auto file = stage.files.find(name_of(line.operation));
  return file == stage.files.end() ? "-" : file->second;
}

/// The lines of a step, as a table.
std::string table_of(const Stage& stage, const RunOptions& options) {
  std::ostringstream out;
  const ModelOptions described = with_data(options.model);
  const Model model = build_model(described);
  const bool is_double = options.precision == "double";
  const Program program = is_double ? program_of<double>(stage, model, options)
                                    : program_of<float>(stage, model, options);
  const Index rows = options.training.batch_size;
  out << "\na training step of " << describe(described) << ", " << options.precision << ", batch "
      << with_thousands(rows) << ": " << count_of(std::ssize(program.lines), "line") << "\n\n";
  const auto column = [](const std::string& text, std::size_t width) {
    return text + std::string(std::max(width, text.size() + 2) - text.size(), ' ');
  };
  out << column("operation", 32) << column("values", 62) << right("bytes", 8) << right("ops", 8)
      << "  computed by\n";
  Cost all;
  for (const Line& line : program.lines) {
    const Cost cost = cost_of(program, line, rows, is_double ? 8 : 4);
    all.bytes += cost.bytes;
    all.operations += cost.operations;
    const bool is_fused = !line.replaces.empty();
    out << column(std::string(name_of(line.operation)) + (is_fused ? "*" : ""), 32)
        << column(operands_text(program, line.operation), 62) << right(with_prefix(cost.bytes), 8)
        << right(with_prefix(cost.operations), 8) << "  " << file_of(stage, line) << '\n';
    if (is_fused) out << "  # " << replaced_text(line) << '\n';
  }
  out << column("all", 32) << column("", 62) << right(with_prefix(all.bytes), 8)
      << right(with_prefix(all.operations), 8) << '\n';
  const bool has_fused = std::any_of(program.lines.begin(), program.lines.end(),
                                     [](const Line& line) { return !line.replaces.empty(); });
  if (has_fused) out << "\n* one line instead of those behind #\n";
  return out.str();
}

}  // namespace

void run_info(const Stage& stage, RunOptions options, bool shows_program) {
  const std::string device = stage.device();  // first, as it fails where there is no GPU
  std::string table;
  if (shows_program) {
    take_workers_of_ranks(stage, options);
    // A process alone shows what two would do.
    if (stage.workers_by_ranks(options.stage) == 1) options.workers.workers = 2;
    refuse_idle_options(options);
    table = table_of(stage, options);
  } else if (!options.given.empty()) {
    throw UsageError("--" + *options.given.begin() + " is for info --program");
  }
  // "Stage N: loops" behind the program's name would say the number twice.
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
