/// @file
/// Whether a data set is finite in the precision in which a network computes.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

/// Where a data set comes from, for error messages.
struct Origin {
  std::string name;                  ///< of the data set, or its file
  std::vector<std::string> columns;  ///< of a table's features; empty for other data
  Index first_row = 0;               ///< of a table: how many rows of the file come before the set
  std::string sample = "sample";     ///< what a sample of other data is called: "test sample"
};

/// "table.csv, row 5 below the header, column age", or "x.h5, sample 4, value 0 (counted from 0)".
std::string place_in(const Origin& origin, Index sample, Index feature);

/// @param precision "float" or "double".
/// @throws Error naming the first value that is infinite in this precision.
void expect_to_hold(const std::string& precision, const Dataset& dataset, const Origin& origin);

}  // namespace stagewise
