/// @file
/// Reading HDF5 files that may be damaged: checks that the library itself does not make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace stagewise::hdf5 {

/// Opens a file for reading; no handle if the library refuses.
Handle open_file(const std::filesystem::path& path);

/// "[60000, 784]".
std::string list(const std::vector<hsize_t>& dimensions);

/// Why the numbers of a data set must not be read: "are stored in chunks; ..."; empty if they may
/// be. The library (1.10.8) trusts what a damaged header says about chunks, unusual types and
/// sizes, and then overruns its buffers. So only one piece of numbers of the usual types is read,
/// in this file, with the size that their shape takes.
/// @param set an open data set.
/// @param file_bytes the size of the file that it is in.
std::string objection_to(const Handle& set, std::uint64_t file_bytes);

}  // namespace stagewise::hdf5
