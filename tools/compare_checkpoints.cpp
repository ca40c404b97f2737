/// @file
/// Compares two checkpoints, parameter by parameter, in the manner of report 000's table 1.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"
#include "io/checkpoint.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"
#include "verify/compare.hpp"

namespace {

using namespace stagewise;

std::string printed(const char* format, double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
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
  const std::vector<Difference> differences = compare_parameters(a.parameters, b.parameters, path_a, path_b);

  std::size_t width = std::string("parameter").size();
  for (const Difference& difference : differences) {
    width = std::max(width, excerpt(difference.name).size());
  }
  const std::vector<Column> columns = {
      {"parameter", width, true}, {"max norm", 11}, {"L2 norm", 11}, {"   worst element", 0, true}};
  std::cout << heading_of(columns);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const Difference& d = differences[i];
    std::string worst = "   ";
    if (d.finite && d.max_norm == 0) {
      worst += "equal";
    } else {
      worst += place_of(d.worst, a.parameters[i].shape) + ": " + printed("%g", d.a) +
               (d.finite ? ", off by " + printed("%.1e", std::abs(d.a - d.b)) : " and " + printed("%g", d.b));
    }
    if (!d.within(tolerance)) worst += "   BEYOND";
    const auto norm = [&](double value) { return d.finite ? printed("%.3e", value) : "nan"; };
    std::cout << row_of(columns, {excerpt(d.name), norm(d.max_norm), norm(d.l2_norm), worst});
  }

  const auto beyond =
      std::count_if(differences.begin(), differences.end(), [&](const auto& d) { return !d.within(tolerance); });
  if (beyond == 0) {
    std::cout << "within " << shortest(tolerance) << ": " << path_a << " and " << path_b << '\n';
    return 0;
  }
  std::cout << "beyond " << shortest(tolerance) << ": " << count_of(beyond, "parameter") << " of " << path_a << " and "
            << path_b << '\n';
  return 1;
}

}  // namespace

// Declaring options throws only if a declaration is wrong, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app(
      "Compares the parameters of two checkpoints. The differences are relative: the norm of the "
      "difference over the larger of the two norms. Ends with 0 if every parameter is finite and "
      "its max norm within the tolerance, 1 if not or if the networks are of another kind or size, "
      "2 if a file cannot be read.",
      "compare_checkpoints");
  std::string a;
  std::string b;
  double tolerance = 1e-10;
  app.add_option("A", a, "a checkpoint")->required()->type_name("FILE");
  app.add_option("B", b, "another")->required()->type_name("FILE");
  add_value(app, "tolerance", "X", "largest max norm that passes", "1e-10",
            [&](const std::string& text) { tolerance = parse_real(text, true); });
  return run_program(app, argc, argv, [&] { return compare(a, b, tolerance); });
}
