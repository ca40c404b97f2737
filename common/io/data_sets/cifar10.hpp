/// @file
/// The binary version of CIFAR-10: records of 3,073 bytes, a label followed by the red, the green
/// and the blue values of 32x32 pixels. There is no header, so any number of records is a valid
/// file.
#pragma once

#include <filesystem>
#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

/// Reads files of records, one after another; each may be gzip-compressed, whatever its name.
/// @return samples of shape [32, 32, 3], channels last, unlike in the file; 10 classes.
/// @throws Error naming the file and what is wrong with it: missing, empty, incomplete last record,
///         a label greater than 9.
Dataset read_cifar10(const std::vector<std::filesystem::path>& files);

}  // namespace stagewise
