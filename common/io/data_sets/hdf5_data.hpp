/// @file
/// Data sets in HDF5 files, as in report 001: samples in `/x`, classes in `/y`.
#pragma once

#include <filesystem>
#include <optional>

#include "data/dataset.hpp"

namespace stagewise {

/// Reads samples and classes from an HDF5 file. `/x` is [N, features] or [N, height, width,
/// channels]; `/y` is either one-hot, [N, classes], or contains class numbers, [N] or [N, 1]. Both
/// may contain integers of any size, floats or doubles, stored contiguously. The values are used as
/// they are: images should be in [0, 1].
/// @return samples of shape [features] or [height, width, channels]; as many classes as a one-hot
///         `/y` has columns, otherwise the largest class number plus one.
/// @throws Error naming the file and what is wrong with it: missing, not HDF5, damaged, data sets
///         that are missing, of the wrong shape or type, or of different lengths, rows that are not
///         one-hot, values that are not finite.
Dataset read_hdf5(const std::filesystem::path& path);

/// Reads samples from a file without `/y`. All have class 0, which means nothing.
/// @return empty if there is a `/y`.
/// @throws Error as above.
std::optional<Dataset> read_hdf5_without_labels(const std::filesystem::path& path);

}  // namespace stagewise
