/// @file
/// The options common to all ladders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "tensor/shape.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewise::ladder {

/// The values of the common options.
struct Options {
  std::string rung = "all";
  std::string precision = "float";
  std::uint64_t seed = 1;
  Index repetitions = cuda::runs_on_cpu() ? 1 : 20;  ///< of the measurement; 0: verify only
  std::filesystem::path report;                      ///< empty: no report
  std::filesystem::path roofline;                    ///< the figure, of ladders that offer it; empty: none
};

/// Declares `--name N`, a size of the problem.
/// @param size holds the default, or 0 for none, and receives the value.
void add_size(CLI::App& command, const std::string& name, const std::string& description, Index& size);

/// Declares the common options: --precision, --seed, --rung, --repetitions, --report.
/// @param rungs the values of --rung, besides all.
void add_options(CLI::App& command, Options& options, const std::vector<std::string>& rungs);

}  // namespace stagewise::ladder
