/// @file
/// What the command line says about the data set.
#pragma once

#include <optional>
#include <string>

#include "data/generators.hpp"

namespace stagewise {

/// The values of `--dataset` and the related options.
struct DatasetOptions {
  std::string name = "digits";  ///< a known name, or a path if `format` is given
  std::string format;           ///< empty for a known name
  std::string data_dir;         ///< empty: STAGEWISE_DATA_DIR, else "datasets"
  std::optional<Index> train_limit;
  std::optional<Index> test_limit;
  Index validation = 0;
  std::string label;                 ///< the column of a CSV file that holds the class
  GaussianOptions gaussian;          ///< used if `name` is "gaussian"
  bool needs_labels = true;          ///< whether a file without labels is refused
  std::string precision = "double";  ///< in which all values must be finite: "float" or "double"
};

}  // namespace stagewise
