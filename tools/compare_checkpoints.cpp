/// @file
/// Compares two checkpoints, parameter by parameter, in the manner of report 000's table 1.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "io/checkpoint.hpp"
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
