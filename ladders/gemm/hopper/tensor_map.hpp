/// @file
/// What the bulk copy engine has to know of a matrix.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// What the numbers are, in which case the engine can also tell where a row ends.
enum class MapType : std::uint8_t { bf16, float32 };

/// Bytes of a row of a box: what the engine swizzles, and the steps of a k tile take.
constexpr int box_row_bytes = 128;

/// Describes a row-major matrix of which boxes of `box_rows` x 128 bytes are copied, at most 256
/// rows; what lies outside of the matrix becomes 0. In shared memory, the box's rows follow each
/// other, and the eight pieces of 16 bytes of row r change places: piece p is at p ^ (r % 8). So
/// the same piece of eight rows is in eight different groups of banks.
/// @param data at a multiple of 16 bytes in the GPU's memory.
/// @param pitch bytes from row to row, a multiple of 16.
/// @throws Error if the driver refuses.
CUtensorMap make_tensor_map(MapType type, const void* data, Index rows, Index columns, Index pitch, int box_rows);

}  // namespace stagewise::shared_memory
