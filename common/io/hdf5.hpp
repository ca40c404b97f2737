/// @file
/// HDF5: owners of its handles, and reading files that may be damaged, or lead elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "tensor/error.hpp"

namespace stagewise::hdf5 {

/// An identifier of the HDF5 library with the function that closes it.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) closer_(id_);
  }

  hid_t id() const { return id_; }

  /// Whether the library gave an identifier at all.
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  Closer closer_;
};

/// Keeps the library from printing its error stack from now on: we report errors in a sentence.
inline void keep_quiet() {
  // A damaged file can leave something open inside the library, which would then complain when the
  // program ends. There is nothing to save at that time: files are only read, or in memory.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

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
  /// @throws Error if it is missing, not HDF5, damaged, or may not be opened. Of another file, it names the kind.
  InputFile(std::filesystem::path path, std::string complaint);

  /// The error to throw.
  Error failure(const std::string& reason) const { return Error(complaint_ + ": " + reason); }

  hid_t id() const { return file_.id(); }

  /// Names of what is below a group, in the library's order; those of the root, if it is empty.
  std::vector<std::string> names_in(const std::string& group) const;

  /// Whether it holds the weights of a Keras network.
  bool is_of_keras() const;

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
