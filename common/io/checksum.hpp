/// @file
/// Whether a checkpoint is still what was written.
#pragma once

#include <cstdint>

#include "io/checkpoint.hpp"

namespace stagewise {

/// The CRC-32 (zlib's) of all that a checkpoint says. It goes over these bytes, numbers with the
/// least significant byte first and texts with a 0 behind them:
///
/// - model and precision; seed, epoch and step in 8 bytes each;
/// - of each other setting, in the order of their names: name and value;
/// - of each parameter, in the order of their names: name, dimensions in 8 bytes each, values in
/// the
///   precision they are stored in, with one and the same NaN for all;
/// - likewise the parameters of worker 1, of worker 2, ...
///
/// It finds every damage within 32 neighbouring bits, and all but one in 2^32 others.
std::uint32_t checksum_of(const Checkpoint& checkpoint);

}  // namespace stagewise
