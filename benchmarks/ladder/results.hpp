/// @file
/// What became of a ladder's kernels, and the verdict and the report on it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ladder/options.hpp"
#include "tensor/shape.hpp"

namespace stagewise::ladder {

/// What became of a rung. What is known before it is run, the table is laid out by.
struct Row {
  std::string name;
  std::string file;
  std::string idea;
  Index tile = 0;       ///< side of the squares of results that a block computes; 0: not squares
  bool picked = false;  ///< whether stage 03 itself would use it for this problem

  std::string skipped;  ///< why it cannot be run; empty: it can
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
struct Table {
  std::string heading;           ///< of the column of names: "rung"
  std::string reference_name;    ///< "cuBLAS"
  std::vector<Row> rows;         ///< in the ladder's order
  std::optional<Row> reference;  ///< absent in a build without it
};

/// Those of the ladder, and below them the reference's.
std::vector<Row> all_rows(const Table& table);

/// Operations or bytes a second, of a row that was measured.
double speed_of(const Row& row);

/// Operations or bytes a second over the reference's; absent where either was not measured.
std::optional<double> share_of_reference(const Row& row, const Table& table);

/// Whether everything that was run is verified.
bool is_right(const std::vector<Table>& tables);

/// What a subcommand has found.
struct Results {
  std::string ladder;              ///< the subcommand
  nlohmann::ordered_json problem;  ///< its sizes and factors, by name
  std::vector<Table> tables;
};

/// Prints the verdict, and writes the report that was asked for, as JSON.
/// @param command the command line as it was given.
/// @return the exit code: 1 if a kernel is wrong, else 0.
/// @throws Error naming the report's file and the reason if it cannot be written.
int finish(const Results& results, const Options& options, const std::vector<std::string>& command);

}  // namespace stagewise::ladder
