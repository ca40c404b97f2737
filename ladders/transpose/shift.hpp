/// @file
/// A column of ones before a matrix, in place and out of place: with it, a bias becomes one more
/// row of the weights (report 003).
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// How many elements the helper of shift_right() and shift_left() needs for a matrix of
/// [rows, cols], not counting the column of ones.
Index shift_helper_elements(Index rows, Index cols);

/// In place: [rows, cols] becomes [rows, 1 + cols] with a first column of ones.
/// @param matrix has room for rows (1 + cols) elements; the first rows cols are the matrix.
/// @param helper has room for shift_helper_elements() elements.
template <typename T>
void shift_right(cudaStream_t stream, Index rows, Index cols, T* matrix, T* helper);

/// In place, the reverse: [rows, 1 + cols] loses its first column and becomes [rows, cols].
template <typename T>
void shift_left(cudaStream_t stream, Index rows, Index cols, T* matrix, T* helper);

/// Out of place: y [rows, 1 + cols] = x [rows, cols] with a first column of ones.
template <typename T>
void insert_ones(cudaStream_t stream, Index rows, Index cols, const T* x, T* y);

/// Out of place, the reverse: y [rows, cols] = x [rows, 1 + cols] without its first column.
template <typename T>
void remove_column(cudaStream_t stream, Index rows, Index cols, const T* x, T* y);

}  // namespace stagewise::shared_memory
