/// @file
/// How the HDF5 library gets at the bytes of a file that may be damaged.
#pragma once

#include <hdf5.h>

namespace stagewise::hdf5 {

/// A file driver for reading, to be used with H5Pset_driver(). The library's own ones have two
/// drawbacks with damaged files. They let it collect small reads (the metadata accumulator), which
/// crashes where such a file has no address. And they go on behind the end of a file with zeros, so
/// that a header which claims 4 GiB makes 4 GiB of memory be filled.
hid_t reading_driver();

}  // namespace stagewise::hdf5
