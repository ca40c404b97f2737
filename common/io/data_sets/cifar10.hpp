/// @file
/// The binary version of CIFAR-10: records of 3,073 bytes, a label and then 32x32 pixels in red,
/// in green and in blue. There is no header, so that any number of records is a file.
#pragma once

#include <filesystem>
#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

/// Reads files of records, one after another; each may be gzip-compressed, whatever its name.
/// @return samples of shape [32, 32, 3], channel fastest, unlike in the file; 10 classes.
/// @throws Error naming the file and what is wrong with it: missing, empty, ending within a record,
///         a label greater than 9.
Dataset read_cifar10(const std::vector<std::filesystem::path>& files);

}  // namespace stagewise
