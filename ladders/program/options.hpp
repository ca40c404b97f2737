/// @file
/// The options common to all ladders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/ladder.hpp"
#include "tensor/shape.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewise::ladder {

/// The values of the common options.
struct Options {
  Options();

  std::string rung = "all";
  std::string precision = "float";
  std::uint64_t seed = 1;
  Index repetitions;               ///< of the measurement; 0: verify only
  std::filesystem::path report;    ///< empty: no report
  std::filesystem::path roofline;  ///< the figure, of ladders that offer it; empty: none
};

/// Declares `--name N`, a size of the problem.
/// @param size holds the default, or 0 for none, and receives the value.
void add_size(CLI::App& command, const std::string& name, const std::string& description,
              Index& size);

/// Declares the common options: --precision, --seed, --rung, --repetitions, --report.
/// @param rungs the values of --rung, besides all.
void add_options(CLI::App& command, Options& options, const std::vector<std::string>& rungs);

/// The names of the rungs in the ladders of both precisions, which may differ.
template <typename Float, typename Double>
std::vector<std::string> names_of(Ladder<Float> in_float, Ladder<Double> in_double) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const Rung<Float>& rung : in_float) add(rung.name);
  for (const Rung<Double>& rung : in_double) add(rung.name);
  return names;
}

}  // namespace stagewise::ladder
