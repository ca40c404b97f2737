/// @file
/// Whether a checkpoint is unchanged since it was written, and the same for all its readers.
#pragma once

#include <cstdint>

#include "io/checkpoint.hpp"

namespace stagewise {

/// The CRC-32 (zlib's) of a checkpoint's contents. It is computed from these bytes, with numbers in
/// little-endian order and strings followed by a 0:
///
/// - model and precision; seed, epoch and step in 8 bytes each;
/// - of each other setting, in the order of their names: name and value;
/// - of each parameter, in the order of their names: name, dimensions in 8 bytes each, values in
///   the precision in which they are stored, every NaN as the same one;
/// - likewise the parameters of worker 1, of worker 2, ...;
/// - likewise the optimizer's state.
///
/// It detects all damage within 32 neighbouring bits, and all but one in 2^32 cases of any other.
std::uint32_t checksum_of(const Checkpoint& checkpoint);

}  // namespace stagewise
