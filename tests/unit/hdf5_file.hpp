/// @file
/// HDF5 files as other programs might write them, made with the library itself.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "io/hdf5.hpp"

namespace stagewise {

using Dimensions = std::vector<hsize_t>;

/// Adds a data set to a file or group; without values, it is never written.
inline void add_data(hid_t to, const char* name, hid_t type, const Dimensions& dimensions,
                     const std::vector<double>& values, hid_t creation = H5P_DEFAULT) {
  const hdf5::Handle space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), H5Sclose);
  const hdf5::Handle set(H5Dcreate2(to, name, type, space.id(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  ASSERT_TRUE(set) << "the test could not make the data set " << name;
  if (values.empty()) return;
  ASSERT_GE(H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

}  // namespace stagewise
