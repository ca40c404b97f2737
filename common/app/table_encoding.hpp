/// @file
/// The encoding of a table as a text, for checkpoints.
#pragma once

#include <string>

#include "io/data_sets/csv.hpp"

namespace stagewise {

/// A JSON object with the arrays `features`, `classes`, `mean` and `deviation`; numbers with as
/// many digits as name them exactly.
std::string to_text(const TableEncoding& encoding);

/// The reverse of to_text().
/// @throws Error if the text is not such an object, or its arrays do not fit together.
TableEncoding parse_table_encoding(const std::string& text);

}  // namespace stagewise
