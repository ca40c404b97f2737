/// @file
/// What a stage tells the common command line about its ladders: families of kernels for the same
/// problem, which a subcommand runs, verifies and times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// A size of a ladder's problem, for an option.
struct LadderSize {
  std::string name;  ///< "m", for `--m`
  std::string description;
  std::optional<Index> default_size;  ///< absent: without it, the problem is another one
};

/// What was asked of a ladder.
struct LadderRequest {
  std::map<std::string, Index> sizes;  ///< by name; those without a default only where given
  std::string rung = "all";
  std::string precision = "float";
  double alpha = 1;
  double beta = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  std::uint64_t seed = 1;
  Index repetitions = 0;  ///< of the measurement; 0: only verify

  /// To be called with the name of each row before it is run.
  std::function<void(const std::string&)> announce = [](const std::string&) {};
};

/// What became of a rung.
struct LadderRow {
  std::string name;
  std::string file;
  std::string idea;
  Index tile = 0;       ///< side of the squares of results that a block computes; 0: not squares
  bool picked = false;  ///< whether the stage itself would use it for this problem

  std::string skipped;  ///< why it could not be run; empty: it was run
  std::string wrong;    ///< where it is wrong: "1 of 60 elements: [3, 5] is 0.25 instead of 0.5";
                        ///< empty: it is verified

  double difference = 0;  ///< from what is expected: norm of the difference over the norm
  double worst = 0;       ///< the largest difference of an element
  double bound = 0;       ///< what `worst` may be; 0: the two must be equal
  std::optional<double> reference_difference;  ///< as `difference`, from the reference

  std::optional<double> seconds;  ///< absent: not measured
  double operations = 0;          ///< of arithmetic; 0: memory is what counts
  double bytes = 0;               ///< that move at least
};

/// Rows that are compared with each other.
struct LadderTable {
  std::string heading;          ///< of the column of names: "rung"
  std::string reference_name;   ///< "cuBLAS"
  std::vector<LadderRow> rows;  ///< in the ladder's order
  std::vector<LadderRow>
      reference_rows;  ///< the reference's own row, or none in a build without it
};

/// A line above the tables.
struct LadderLine {
  std::string label;  ///< of at most six letters
  std::string text;
};

/// What a ladder found.
struct LadderReport {
  std::vector<LadderLine>
      header;  ///< the problem, how it is verified, how fast it could be at best
  std::vector<LadderTable> tables;
};

/// A subcommand that runs a ladder.
struct LadderCommand {
  std::string name;  ///< "gemm"
  std::string summary;
  std::vector<LadderSize> sizes;
  bool is_product = false;         ///< whether it takes --alpha, --beta and transposes
  std::vector<std::string> rungs;  ///< what --rung takes besides all
  std::function<LadderReport(const LadderRequest&)> run;
};

}  // namespace stagewise
