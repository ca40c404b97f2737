/// @file
/// The options that all ladders have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "03_shared_memory/ladder.hpp"
#include "tensor/shape.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewise::ladder {

/// What is asked of every ladder.
struct Options {
  Options();

  std::string rung = "all";
  std::string precision = "float";
  std::uint64_t seed = 1;
  Index repetitions;             ///< of the measurement; 0: only verify
  std::filesystem::path report;  ///< empty: none is written
};

/// Declares `--name N`, a size of the problem.
/// @param size holds the default, or 0 for none, and receives the value.
void add_size(CLI::App& command, const std::string& name, const std::string& description,
              Index& size);

/// Declares what all ladders have: --precision, --seed, --rung, --repetitions, --report.
/// @param rungs what --rung takes besides all.
void add_options(CLI::App& command, Options& options, const std::vector<std::string>& rungs);

/// The names in ladders of both precisions, which need not have the same rungs.
template <typename Float, typename Double>
std::vector<std::string> names_of(shared_memory::Ladder<Float> in_float,
                                  shared_memory::Ladder<Double> in_double) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const shared_memory::Rung<Float>& rung : in_float) add(rung.name);
  for (const shared_memory::Rung<Double>& rung : in_double) add(rung.name);
  return names;
}

}  // namespace stagewise::ladder
