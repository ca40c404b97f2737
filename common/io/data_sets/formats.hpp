/// @file
/// The file formats of data sets. Each file may be gzip-compressed, whatever its name, except for
/// HDF5.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

// ------------------------------------------------------------------------------------------- CSV

// CSV, the format of tables: a header line with the names of the columns, then one line per
// sample, with cells separated by commas, semicolons, tabs, bars or blanks. A cell in double quotes
// may contain commas, line breaks and, doubled, quotes (RFC 4180).

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
  std::string note;        ///< what the user should know about how it was read
};

/// Reads a CSV file. It may be gzip-compressed, begin with a byte-order mark, end its lines with LF
/// or CRLF, and end with empty lines. Blanks around a cell are ignored, as are empty cells behind the
/// last column. CsvReader says what may separate cells.
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
Table read_csv(const std::filesystem::path& path, const std::string& label, const TableEncoding* known = nullptr,
               bool needs_labels = true);

/// Writes a data set as a table: columns x1, x2, ... and, last, `label` with the class numbers.
/// Pixels are written as bytes, other features with as many digits as are needed to read back the
/// same double.
/// @throws Error if the file cannot be written completely; an existing file then stays as it was.
void write_csv(const Dataset& dataset, const std::filesystem::path& path);

// ------------------------------------------------------------------------------------------- IDX

// IDX, the format of MNIST and Fashion-MNIST: a big-endian header (magic number, one length per
// dimension), then the bytes. One file contains the images, another the labels.

/// Reads a pair of IDX files; each may be gzip-compressed, whatever its name.
/// Labels are bytes, or integers of four; where each has several, the first counts.
/// @param classes number of classes; every label must be less. 0: the largest label plus one.
/// @return samples of shape [height, width, 1].
/// @throws Error naming the file and what is wrong with it: missing, empty, truncated, longer than
///         its header says, a wrong magic number, counts that differ, a label outside the classes.
Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, int classes);

/// Reads a file of images without labels: all have class 0, which means nothing.
/// @throws Error as read_idx().
Dataset read_idx_images(const std::filesystem::path& images);

/// Writes images and labels as a pair of plain IDX files.
/// Both are complete before either gets its name; existing files stay until then.
/// @throws Error if the samples are not images of shape [height, width, 1], there are more than 256
///         classes, or a file cannot be written completely.
void write_idx(const Dataset& dataset, const std::filesystem::path& images, const std::filesystem::path& labels);

/// The labels file that belongs to an images file: "images" and "idx3" in the file's name become
/// "labels" and "idx1".
/// @throws Error if the name does not contain "images".
std::filesystem::path idx_labels_path(const std::filesystem::path& images);

// -------------------------------------------------------------------------------------- CIFAR-10

// The binary version of CIFAR-10: records of 3,073 bytes, a label followed by the red, the green
// and the blue values of 32x32 pixels. There is no header, so any number of records is a valid
// file.

/// Reads files of records, one after another; each may be gzip-compressed, whatever its name.
/// @return samples of shape [32, 32, 3], channels last, unlike in the file; 10 classes.
/// @throws Error naming the file and what is wrong with it: missing, empty, incomplete last record,
///         a label greater than 9.
Dataset read_cifar10(const std::vector<std::filesystem::path>& files);

// ------------------------------------------------------------------------------------------ HDF5

// Data sets in HDF5 files, as in report 001: samples in `/x`, classes in `/y`.

/// What the data sets are called.
struct Hdf5Names {
  std::string x = "x";
  std::string y = "y";
};

/// Reads samples and classes from an HDF5 file. `/x` is [N, features], [N, height, width] or [N,
/// height, width, channels], where 1, 3 or 4 channels may also come first; `/y` is either one-hot, [N, classes], or
/// contains class numbers, [N] or [N, 1]. Both may contain integers of any size, floats or doubles, stored
/// contiguously. The values are used as they are: images should be in [0, 1].
/// @return samples of shape [features] or [height, width, channels]; as many classes as a one-hot
///         `/y` has columns, otherwise the largest class number plus one.
/// @throws Error naming the file and what is wrong with it: missing, not HDF5, damaged, data sets
///         that are missing, of the wrong shape or type, or of different lengths, rows that are not
///         one-hot, values that are not finite.
Dataset read_hdf5(const std::filesystem::path& path, const Hdf5Names& names = {});

/// Reads samples from a file without `/y`. All have class 0, which means nothing.
/// @return empty if there is a `/y`.
/// @throws Error as above.
std::optional<Dataset> read_hdf5_without_labels(const std::filesystem::path& path, const Hdf5Names& names = {});

}  // namespace stagewise
