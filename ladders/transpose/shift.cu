/// @file
/// A column of ones before a matrix, in place, with a helper buffer (report 003).
///
/// In place, every row but the first moves, and its new place overlaps the old one of its
/// neighbours. One block moves one row. If all blocks read before any writes, nothing is lost, but
/// blocks cannot wait for each other. So a first kernel saves to a helper buffer what the blocks of
/// other rows will overwrite, and a second one moves the rows. For example, 3 rows of 4, before and
/// after shift_right():
///
///     address   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14
///     before   a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3
///     after     1 a0 a1 a2 a3  1 b0 b1 b2 b3  1 c0 c1 c2 c3
///
/// After the shift, the rows above row j end at address j (cols + 1), of which j cols were theirs
/// before: they overwrite the first j elements of row j, here b0, c0 and c1, or all of them in a
/// matrix of few columns. The rest of the row lies within its own new place, which no other block
/// touches. So the helper has 1 + 2 + 3 + ... elements, with each term at most cols. Read in
/// reverse, the picture shows shift_left(): there, the rows below overwrite the last j + 1 elements
/// of row j, here a3, b2 and b3, except in the last row.
///
/// Report 003 uses one thread per element of this triangle, which finds its row with a square root.
/// One block per row does not need that: its part of the helper begins after those of the rows
/// above, whose sizes have a closed-form sum.
///
/// Work: rows x cols elements read and written, plus the helper, written and read: almost as much
/// again if there are more rows than columns. insert_ones.cu needs a second matrix instead.

#include <algorithm>

#include "cuda/launch.cuh"
#include "ladders/transpose/shift.hpp"

namespace stagewise::shared_memory {
namespace {

//! [helper]
/// min(0, cols) + min(1, cols) + ... + min(rows - 1, cols)
__host__ __device__ Index staircase(Index rows, Index cols) {
  if (rows == 0) return 0;
  const Index stairs = rows - 1 < cols ? rows - 1 : cols;
  return stairs * (stairs + 1) / 2 + (rows - 1 - stairs) * cols;
}

/// The part of a row that is saved: `count` elements, starting at `column`, stored in the helper
/// starting at `offset`.
struct Saved {
  Index column;
  Index count;
  Index offset;
};

__device__ Saved saved_by_shift_right(Index row, Index cols) { return {0, min(row, cols), staircase(row, cols)}; }

/// If there are more rows than columns, some elements of the lowest rows lie after the whole new
/// matrix and would survive. They are saved all the same: one formula serves both directions.
__device__ Saved saved_by_shift_left(Index row, Index rows, Index cols) {
  if (row == rows - 1) return {cols, 0, 0};
  const Index count = min(row + 1, cols);
  return {cols - count, count, staircase(row + 1, cols)};
}
//! [helper]

//! [save_and_read]
/// `line` is the row in its old place.
template <typename T>
__device__ void save(const Saved& saved, const T* line, T* helper) {
  for (Index i = threadIdx.x; i < saved.count; i += blockDim.x) {
    helper[saved.offset + i] = line[saved.column + i];
  }
}

template <typename T>
__device__ T read(const Saved& saved, const T* line, const T* helper, Index column) {
  const Index i = column - saved.column;
  return i >= 0 && i < saved.count ? helper[saved.offset + i] : line[column];
}
//! [save_and_read]

//! [shift_right]
template <typename T>
__global__ void save_for_shift_right_kernel(Index cols, const T* __restrict__ matrix, T* __restrict__ helper) {
  const Index row = blockIdx.x;
  save(saved_by_shift_right(row, cols), matrix + row * cols, helper);
}

// Other threads of the block write what this one reads, so `matrix` must not be `__restrict__`: the
// compiler could then move the reads behind the barrier. Nor must `helper`, although nobody writes
// to it here: nvcc makes one load of both branches of read(), takes both for constant, and does
// move it (seen in the machine code for compute capability 9.0, CUDA 13.0).
template <typename T>
__global__ void shift_right_kernel(Index cols, T* matrix, const T* helper) {
  const Index row = blockIdx.x;
  const T* const from = matrix + row * cols;
  T* const to = matrix + row * (cols + 1);
  const Saved saved = saved_by_shift_right(row, cols);
  // From right to left: a piece overwrites only itself or elements that have already moved.
  for (Index end = cols; end > 0; end -= blockDim.x) {
    const Index column = end - 1 - threadIdx.x;
    T value = 0;
    if (column >= 0) value = read(saved, from, helper, column);
    __syncthreads();  // the whole piece is in registers
    if (column >= 0) to[1 + column] = value;
  }
  if (threadIdx.x == 0) to[0] = 1;
}
//! [shift_right]

//! [shift_left]
template <typename T>
__global__ void save_for_shift_left_kernel(Index rows, Index cols, const T* __restrict__ matrix,
                                           T* __restrict__ helper) {
  const Index row = blockIdx.x;
  save(saved_by_shift_left(row, rows, cols), matrix + row * (cols + 1) + 1, helper);
}

template <typename T>
__global__ void shift_left_kernel(Index rows, Index cols, T* matrix, const T* helper) {
  const Index row = blockIdx.x;
  const T* const from = matrix + row * (cols + 1) + 1;
  T* const to = matrix + row * cols;
  const Saved saved = saved_by_shift_left(row, rows, cols);
  for (Index begin = 0; begin < cols; begin += blockDim.x) {  // from left to right
    const Index column = begin + threadIdx.x;
    T value = 0;
    if (column < cols) value = read(saved, from, helper, column);
    __syncthreads();  // the whole piece is in registers
    if (column < cols) to[column] = value;
  }
}
//! [shift_left]

/// Threads per row: whole warps, and few idle ones if rows are short.
unsigned threads_for(Index cols) {
  return static_cast<unsigned>(std::clamp<Index>(cuda::pieces(cols, 32) * 32, 32, 256));
}

}  // namespace

Index shift_helper_elements(Index rows, Index cols) { return staircase(rows, cols); }

template <typename T>
void shift_right(cudaStream_t stream, Index rows, Index cols, T* matrix, T* helper) {
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>(rows);
  const unsigned threads = threads_for(cols);
  save_for_shift_right_kernel<<<blocks, threads, 0, stream>>>(cols, matrix, helper);
  CUDA_CHECK_LAUNCH("save_for_shift_right");
  shift_right_kernel<<<blocks, threads, 0, stream>>>(cols, matrix, helper);
  CUDA_CHECK_LAUNCH("shift_right");
}

template <typename T>
void shift_left(cudaStream_t stream, Index rows, Index cols, T* matrix, T* helper) {
  if (rows == 0 || cols == 0) return;
  const auto blocks = static_cast<unsigned>(rows);
  const unsigned threads = threads_for(cols);
  save_for_shift_left_kernel<<<blocks, threads, 0, stream>>>(rows, cols, matrix, helper);
  CUDA_CHECK_LAUNCH("save_for_shift_left");
  shift_left_kernel<<<blocks, threads, 0, stream>>>(rows, cols, matrix, helper);
  CUDA_CHECK_LAUNCH("shift_left");
}

template void shift_right(cudaStream_t, Index, Index, float*, float*);
template void shift_right(cudaStream_t, Index, Index, double*, double*);
template void shift_left(cudaStream_t, Index, Index, float*, float*);
template void shift_left(cudaStream_t, Index, Index, double*, double*);

}  // namespace stagewise::shared_memory
