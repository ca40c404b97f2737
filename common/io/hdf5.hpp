/// @file
/// Owners of HDF5's handles.
#pragma once

#include <string>
#include <utility>

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

/// Keeps the library from printing its error stack while in scope: we report errors in a sentence.
class Quiet {
 public:
  Quiet() {
    // A damaged file can leave something open inside the library, which would then complain when
    // the program ends. There is nothing to save at that time: files are only read, or in memory.
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace stagewise::hdf5
