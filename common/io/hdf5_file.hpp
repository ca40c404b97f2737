/// @file
/// Reading HDF5 files that may be damaged, or lead elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "tensor/error.hpp"

namespace stagewise::hdf5 {

/// A data set whose numbers may be read.
struct NumberSet {
  std::string path;
  Handle handle;
  std::vector<hsize_t> dimensions;
};

/// "[60000, 784]".
std::string list(const std::vector<hsize_t>& dimensions);

/// A file that is only read. Every failure becomes a sentence with its name.
class InputFile {
 public:
  /// @param complaint begins the sentences: "the checkpoint a.h5 cannot be read".
  /// @throws Error if it is missing, not HDF5, damaged, or may not be opened.
  InputFile(std::filesystem::path path, std::string complaint);

  /// The error to throw.
  Error failure(const std::string& reason) const { return Error(complaint_ + ": " + reason); }

  hid_t id() const { return file_.id(); }

  /// Whether the root has something with this name.
  bool has(const char* name) const { return H5Lexists(id(), name, H5P_DEFAULT) > 0; }

  /// Opens a group or a data set.
  /// @throws Error for a link: it may lead to another file, whose bytes must not get into a result.
  Handle open(const std::string& path) const;

  /// Opens a data set. The library (1.10.8) trusts what a damaged header says about chunks, unusual
  /// types and sizes, and then overruns its buffers. So it must be one piece of numbers of the
  /// usual types, in this file, with the size that its shape takes.
  NumberSet open_set(const std::string& path) const;

  /// All its numbers.
  std::vector<double> values_of(const NumberSet& set) const;

 private:
  std::filesystem::path path_;
  std::string complaint_;
  Handle file_;
};

}  // namespace stagewise::hdf5
