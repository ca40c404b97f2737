/// @file
/// Results as CSV, for spreadsheets and scripts.
#pragma once

#include <string>
#include <vector>

namespace stagewise {

/// A line of a CSV file, with its line break. Cells with commas, quotes or line breaks are put in
/// quotes, as in RFC 4180.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stagewise
