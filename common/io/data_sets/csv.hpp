/// @file
/// CSV, the format of tables: a header line with the names of the columns, then one line per
/// sample, with cells separated by commas. A cell in double quotes may contain commas, line breaks
/// and, doubled, quotes (RFC 4180).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

/// How the cells of a table became the numbers that a network was trained on. Applying the network
/// to another table requires this, so checkpoints contain it.
struct TableEncoding {
  std::vector<std::string> features;  ///< names of the feature columns, in order
  std::vector<std::string> classes;   ///< values of the label column: class 0, class 1, ...
  Standardization standardization;    ///< of the training samples; empty until known
};

/// The encoding as a text, for checkpoints: a JSON object with the arrays `features`, `classes`,
/// `mean` and `deviation`; numbers with as many digits as name them exactly.
std::string to_text(const TableEncoding& encoding);

/// The reverse of to_text().
/// @throws Error if the text is not such an object, or its arrays do not fit together.
TableEncoding parse_table_encoding(const std::string& text);

/// A table as read, with features that are not standardized yet.
struct Table {
  Dataset dataset;
  TableEncoding encoding;
  bool has_labels = true;  ///< otherwise, all rows have class 0, which means nothing
};

/// Reads a CSV file. It may be gzip-compressed, begin with a byte-order mark, end its lines with LF
/// or CRLF, and end with empty lines. Blanks around a cell are ignored.
/// @param label the column that holds the class, which may be any text. Its values in ascending
///        order are the classes 0, 1, ...; the order is that of numbers if all of them are numbers
///        (2 before 10, and 1 is 1.0), else that of bytes. Every other column is a feature and
///        holds finite numbers only. Names of columns and classes are UTF-8, as checkpoints keep
///        them.
/// @param known if given, the table must have these features, and only these classes.
/// @param needs_labels otherwise, a table with the known features may lack the column `label`.
/// @return samples of shape [features].
/// @throws UsageError naming the columns if none is called `label`; Error naming file, line and
///         column for anything that is wrong with the file.
Table read_csv(const std::filesystem::path& path, const std::string& label,
               const TableEncoding* known = nullptr, bool needs_labels = true);

/// Writes a data set as a table: columns x1, x2, ... and, last, `label` with the class numbers.
/// Pixels are written as bytes, other features with as many digits as are needed to read back the
/// same double.
/// @throws Error if the file cannot be written completely; an existing file then stays as it was.
void write_csv(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace stagewise
