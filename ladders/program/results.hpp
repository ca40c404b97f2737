/// @file
/// The results of a ladder's kernels, with the verdict and the report on them.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladders/program/options.hpp"
#include "tensor/kernel_counters.hpp"
#include "tensor/shape.hpp"
#include "verify/differences.hpp"

namespace stagewise::ladder {

/// The result of a rung. The layout of the table depends only on what is known before the run.
struct Row {
  std::string name;
  std::string file;
  std::string idea;
  std::string group;    ///< the heading above it, once for neighbours of the same; empty: none
  std::string plan;     ///< how it divides the problem, if that depends on the problem
  Index tile = 0;       ///< side of the squares of results that a block computes; 0: not squares
  bool picked = false;  ///< whether stage 03 itself would use it for this problem

  std::string skipped;  ///< why it cannot be run; empty if it can
  std::string wrong;    ///< where it is wrong: "1 of 60 elements: [3, 5] is 0.25 instead of 0.5";
                        ///< empty if it is verified

  double difference = 0;    ///< from the expected result: norm of the difference over the norm
  double worst = 0;         ///< the largest difference of an element
  double bound = 0;         ///< the limit of `worst`; 0: the results must be equal
  double per_rounding = 0;  ///< what a rung that rounds its inputs may add, relative to that rounding
  std::optional<double> reference_difference;  ///< like `difference`, from the reference

  std::optional<double> seconds;           ///< absent: not measured
  std::optional<double> first_seconds;     ///< of them, those of the rung's Rung::prepare
  std::optional<KernelCounters> counters;  ///< of one run; absent: not counted
  double operations = 0;                   ///< of arithmetic; 0: the memory is the limit
  double bytes = 0;                        ///< the minimum that must move
};

/// Euclidean norm of the difference over that of what was expected, of as many numbers as there are
/// in `found`.
template <typename Found, typename Expected>
double relative_difference(const std::vector<Found>& found, const std::vector<Expected>& expected) {
  double squares = 0;
  double expected_squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto wanted = static_cast<double>(expected[i]);
    squares += std::pow(static_cast<double>(found[i]) - wanted, 2);
    expected_squares += wanted * wanted;
  }
  // Two zeros do not differ, and nothing is infinitely far from zero.
  return squares == 0 ? 0 : std::sqrt(squares / expected_squares);
}

/// Records how far a row's output of rows x columns is from the expected result.
template <typename Found, typename Expected>
void note_difference(Row& row, const std::vector<Found>& found, const std::vector<Expected>& expected, Index rows,
                     Index columns) {
  row.difference = relative_difference(found, expected);
  row.worst = 0;
  row.wrong = describe_differences(std::span<const Found>(found), std::span<const Expected>(expected),
                                   {rows, columns, row.tile}, [&](double value, double wanted) {
                                     const double difference = std::abs(value - wanted);
                                     if (!std::isnan(row.worst) && !(difference <= row.worst)) {
                                       row.worst = difference;
                                     }
                                     return difference <= row.bound;  // which no NaN is
                                   });
}

/// Rows that are compared with each other.
struct Table {
  std::string heading = "rung";       ///< of the column of names
  std::string reference_name;         ///< "cuBLAS"
  std::vector<Row> rows;              ///< in the ladder's order
  std::optional<Row> reference = {};  ///< absent in a build without it
};

/// The rows of the ladder, followed by the reference's.
std::vector<Row> all_rows(const Table& table);

/// Operations or bytes per second of a measured row.
double speed_of(const Row& row);

/// Operations or bytes per second, relative to the reference; absent if either was not measured.
std::optional<double> share_of_reference(const Row& row, const Table& table);

/// Whether everything that ran is verified.
bool is_right(const std::vector<Table>& tables);

/// The results of a subcommand.
struct Results {
  std::string ladder;              ///< the subcommand
  nlohmann::ordered_json problem;  ///< its sizes and factors, by name
  std::vector<Table> tables;
  DeviceLimits limits = {};  ///< of what the kernels run on, or would; for the report
};

/// Writes the report as JSON.
/// @throws Error naming the file and the reason if it cannot be written.
void write_report(const std::filesystem::path& path, const Results& results, const Options& options,
                  const std::vector<std::string>& command);

/// Prints the verdict, and writes the report if requested.
/// @param command the command line as given.
/// @return the exit code: 1 if a kernel is wrong, else 0.
/// @throws Error naming the report's file and the reason if it cannot be written.
int finish(const Results& results, const Options& options, const std::vector<std::string>& command);

}  // namespace stagewise::ladder
