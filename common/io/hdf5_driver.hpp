/// @file
/// How the HDF5 library reads the bytes of a file that may be damaged.
#pragma once

#include <hdf5.h>

namespace stagewise::hdf5 {

/// A file driver for reading, to be used with H5Pset_driver(). The library's own ones have two
/// drawbacks with damaged files. They let it collect small reads (the metadata accumulator), which
/// crashes if such a file contains an undefined address. And they continue beyond the end of a file
/// with zeros, so a header that claims 4 GiB causes 4 GiB of memory to be filled.
hid_t reading_driver();

}  // namespace stagewise::hdf5
