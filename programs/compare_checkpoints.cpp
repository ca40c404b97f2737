/// @file
/// Compares two checkpoints, parameter by parameter, in the manner of report 000's table 1;
/// converts a checkpoint to report 002's matrix files and back.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/program.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "io/checkpoint.hpp"
#include "io/file.hpp"
#include "io/matrix_folder.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"
#include "verify/compare.hpp"

namespace {

using namespace stagewise;

std::string scientific(double value, int digits) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*e", digits, value);
  return text.data();
}

/// Six digits: "0.0810218".
std::string general(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

/// Unreadable files end this program with 2, so that 1 only means: beyond the tolerance.
Checkpoint load(const std::string& path) {
  try {
    return load_checkpoint(path);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

int compare(const std::string& path_a, const std::string& path_b, double tolerance) {
  const Checkpoint a = load(path_a);
  const Checkpoint b = load(path_b);
  const std::vector<Difference> differences =
      compare_parameters(a.parameters, b.parameters, path_a, path_b);

  std::size_t width = std::string("parameter").size();
  for (const Difference& difference : differences) {
    width = std::max(width, excerpt(difference.name).size());
  }
  const auto pad = [&](const std::string& text) {
    return text + std::string(width - text.size(), ' ');
  };
  std::cout << pad("parameter") << "   max norm    L2 norm   worst element\n";
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const Difference& d = differences[i];
    const std::string place = place_of(d.worst, a.parameters[i].shape);
    std::cout << pad(excerpt(d.name)) << "  "
              << (d.finite ? scientific(d.max_norm, 3) : "      nan") << "  "
              << (d.finite ? scientific(d.l2_norm, 3) : "      nan") << "   ";
    if (d.finite && d.max_norm == 0) {
      std::cout << "equal";
    } else {
      std::cout << place << ": " << general(d.a)
                << (d.finite ? ", off by " + scientific(std::abs(d.a - d.b), 1)
                             : " and " + general(d.b));
    }
    std::cout << (d.within(tolerance) ? "" : "   BEYOND") << '\n';
  }

  const auto beyond = std::count_if(differences.begin(), differences.end(),
                                    [&](const auto& d) { return !d.within(tolerance); });
  if (beyond == 0) {
    std::cout << "within " << shortest(tolerance) << ": " << path_a << " and " << path_b << '\n';
    return 0;
  }
  std::cout << "beyond " << shortest(tolerance) << ": " << count_of(beyond, "parameter") << " of "
            << path_a << " and " << path_b << '\n';
  return 1;
}

/// "w1.data  256 x 784  fc1/weight", one line per file.
void print_matrices(const std::vector<ExchangedMatrix>& matrices) {
  const auto size = [](const ExchangedMatrix& matrix) {
    return std::to_string(matrix.shape[0]) + " x " + std::to_string(matrix.shape[1]);
  };
  std::size_t file_width = 0;
  std::size_t size_width = 0;
  for (const ExchangedMatrix& matrix : matrices) {
    file_width = std::max(file_width, matrix.file.size());
    size_width = std::max(size_width, size(matrix).size());
  }
  for (const ExchangedMatrix& matrix : matrices) {
    std::cout << matrix.file << std::string(file_width - matrix.file.size() + 2, ' ')
              << std::string(size_width - size(matrix).size(), ' ') << size(matrix) << "  "
              << matrix.parameter << '\n';
  }
}

int export_to(const std::string& folder, const std::string& path) {
  const Checkpoint checkpoint = load_checkpoint(path);
  print_matrices(export_matrices(folder, checkpoint, path));
  std::cout << "written to " << folder
            << (checkpoint.precision == "double"
                    ? ", rounded to float: the checkpoint's doubles have 9 digits more\n"
                    : "\n");
  return 0;
}

int import_from(const std::string& folder, const std::string& path) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(path, error);
  std::vector<ExchangedMatrix> matrices;
  Checkpoint checkpoint;
  if (is_new) {
    checkpoint = mlp_from_matrices(folder, matrices);
  } else {
    checkpoint = load_checkpoint(path);
    matrices = import_matrices(folder, checkpoint, path);
  }
  check_writable(path, "checkpoint");
  save_checkpoint(path, checkpoint);
  print_matrices(matrices);
  std::cout << "read from " << folder << " into " << (is_new ? "the new " : "") << path;
  if (is_new) std::cout << ": mlp, relu, cross-entropy, float";
  std::cout << '\n';
  return 0;
}

/// The command line.
struct Options {
  std::string a;
  std::string b;  ///< empty: not given
  std::optional<double> tolerance;
  std::string export_to;    ///< empty: not given
  std::string import_from;  ///< empty: not given
};

int run(const Options& options) {
  constexpr double default_tolerance = 1e-10;
  const bool exports = !options.export_to.empty();
  const bool imports = !options.import_from.empty();
  if (!exports && !imports) {
    if (options.b.empty()) throw UsageError("a second checkpoint to compare with, B, is required");
    return compare(options.a, options.b, options.tolerance.value_or(default_tolerance));
  }
  if (exports && imports) throw UsageError("--export and --import exclude one another");
  const std::string name = exports ? "--export" : "--import";
  if (!options.b.empty()) {
    throw UsageError(name + " takes one checkpoint, but there is also " + in_quotes(options.b));
  }
  if (options.tolerance) {
    note_idle("compare_checkpoints", "tolerance",
              "is for comparing two checkpoints, not for " + name);
  }
  try {
    return exports ? export_to(options.export_to, options.a)
                   : import_from(options.import_from, options.a);
  } catch (const Error& error) {
    throw UsageError(error.what());  // as in load()
  }
}

}  // namespace

// Declaring options throws only if a declaration is wrong, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app(
      "Compares the parameters of two checkpoints. The differences are relative: the norm of the "
      "difference over the larger of the two norms. Ends with 0 if every parameter is finite and "
      "its max norm within the tolerance, 1 if not or if the networks are of another kind or size, "
      "2 if a file cannot be read.\n\n"
      "With --export or --import it compares nothing, but turns one checkpoint into "
      "matrix files, one for each weight and bias (w1.data, b1.data, w2.data, ...), or takes its "
      "parameters from them. Where the checkpoint to import into does not exist, the files must be "
      "those of an mlp.",
      "compare_checkpoints");
  Options options;
  const auto add_name = [&](const char* name, const char* value, const char* description,
                            std::string& into) {
    add_value(app, name, value, description, "",
              [&into](const std::string& text) { into = parse_name(text); });
  };
  app.add_option("A", options.a, "a checkpoint")->required()->type_name("FILE");
  app.add_option("B", options.b, "another")->type_name("FILE");
  add_value(app, "tolerance", "X", "largest max norm that passes", "1e-10",
            [&](const std::string& text) { options.tolerance = parse_real(text, true); });
  add_name("export", "DIR", "write the parameters of A to DIR", options.export_to);
  add_name("import", "DIR", "replace the parameters of A by those in DIR", options.import_from);
  return run_program(app, argc, argv, [&] { return run(options); });
}
