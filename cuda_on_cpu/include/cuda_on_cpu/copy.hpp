/// @file
/// Copies and fills of boxes. Their ranges are checked against the allocations that they touch.
#pragma once

#include <cstddef>

#include <driver_types.h>

#include "cuda_on_cpu/kernel.hpp"

namespace cuda_on_cpu {

/// Rows and slices of bytes; a plain copy is one row.
struct Extent {
  std::size_t width;
  std::size_t height = 1;
  std::size_t depth = 1;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where the rows of a box are.
template <class Byte>
struct Side {
  Byte* begin;
  std::size_t pitch = 0;  ///< from row to row
  std::size_t slice = 0;  ///< from slice to slice

  /// Where a row begins.
  Byte* row(std::size_t y, std::size_t z) const { return begin + z * slice + y * pitch; }

  /// From the first byte of a box to its last.
  std::size_t bytes(const Extent& extent) const {
    return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
  }
};

/// What is copied from where to where.
struct Box {
  Side<char> to;
  Side<const char> from;
  Extent extent;

  void copy() const;
};

/// A plain copy.
Box one_row(void* to, const void* from, std::size_t bytes);

/// Enqueues a copy and, if asked to, waits for it. `call` and `place` are for what is wrong with
/// it.
cudaError_t copy_box(const char* call, const Box& box, cudaMemcpyKind kind, bool wait,
                     cudaStream_t stream, Place place);
/// The same by the parameters of the 3-D copies.
cudaError_t copy_3d(const char* call, const cudaMemcpy3DParms* parameters, bool wait,
                    cudaStream_t stream, Place place);

/// Enqueues a fill with a value of 1, 2 or 4 bytes; the extent counts bytes.
cudaError_t fill_box(const char* call, const Side<char>& to, const Extent& extent, unsigned value,
                     std::size_t value_bytes, cudaStream_t stream, Place place);

}  // namespace cuda_on_cpu
