/// @file
/// Rung 7, "vectors": 16 bytes in every access, and the turning in registers.
///
/// A thread takes a square of 4 x 4 floats or 2 x 2 doubles. It loads a vector of each row, turns
/// the square in its registers, puts the vectors, which now are columns, into the tile, and takes
/// others from there to store them: a quarter of the instructions of rung 6 in float, half in
/// double.
///
///     rows of x        in registers        the tile, turned: rows of y
///     a0 a1 a2 a3      a0 b0 c0 d0         .. a0 b0 c0 d0 ..
///     b0 b1 b2 b3  ->  a1 b1 c1 d1   ->    .. a1 b1 c1 d1 ..
///     c0 c1 c2 c3      a2 b2 c2 d2         .. a2 b2 c2 d2 ..
///     d0 d1 d2 d3      a3 b3 c3 d3         .. a3 b3 c3 d3 ..
///
/// Eight lanes at a time get their 16 bytes from the 32 banks. Those who write a column of squares
/// lie a multiple of 8 vectors apart; padding by single words would break the vectors. So rung 5's
/// XOR comes back, for vectors: that of a row of squares s in place p is kept in place p XOR s.
///
/// All rows of x and y must begin at a multiple of 16 bytes; other matrices are left to rung 6.
///
/// Run it: `ladder transpose --rung vectors`.
/// Work: as rung 6, with a quarter of the instructions in float, half in double.
/// Measured on an H200, 4096 x 4096: 34.1 us in float, 69.5 us in double.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "ladders/transpose/6_large_tiles.cuh"

namespace stagewise::shared_memory {

/// A tile in vectors, and the threads that move it.
template <typename T, int side_>
struct VectorTile {
  static constexpr int side = side_;
  static constexpr int length = Vector<T>::length;
  static constexpr int vectors = side / length;  ///< in a row; also rows of squares
  static constexpr int threads =
      vectors * vectors < cuda::threads_per_block ? vectors * vectors : cuda::threads_per_block;
  static constexpr int rows_at_once = threads / vectors;
  static constexpr int squares_of_thread = vectors / rows_at_once;
  static_assert(vectors % 8 == 0);

  Vector<T> values[side][vectors];

  /// A vector of a row.
  __device__ Vector<T>& at(int row, int place) { return values[row][place ^ (row / length % vectors)]; }
};

//! [transpose_vectors]
template <typename Tile, Start start, typename T>  // early: for rung 8
__global__ void __launch_bounds__(Tile::threads)
    transpose_vectors_kernel(Index rows, Index cols, Input<start, T> x, T* __restrict__ y) {
  constexpr int length = Tile::length;
  __shared__ Tile tile;
  if constexpr (start == Start::early) wait_for_kernel_before();
  const auto right = static_cast<int>(threadIdx.x);
  const Index left = blockIdx.x * Index{Tile::side};
  const Index step = gridDim.y * Index{Tile::side};
  for (Index top = blockIdx.y * Index{Tile::side}; top < rows; top += step) {
    Vector<T> squares[Tile::squares_of_thread][length];
#pragma unroll
    for (int i = 0; i < Tile::squares_of_thread; ++i) {
#pragma unroll
      for (int j = 0; j < length; ++j) {
        // Beyond an edge, what lies at it: it is not stored, and no branch is between the loads.
        const Index row = min(top + (threadIdx.y + i * Tile::rows_at_once) * length + j, rows - 1);
        const Index column = min(left + right * length, cols - length);
        squares[i][j] = *reinterpret_cast<const Vector<T>*>(x + row * cols + column);
      }
    }
#pragma unroll
    for (int i = 0; i < Tile::squares_of_thread; ++i) {
      const int down = static_cast<int>(threadIdx.y) + i * Tile::rows_at_once;
#pragma unroll
      for (int j = 0; j < length; ++j) {
        Vector<T> column;
#pragma unroll
        for (int k = 0; k < length; ++k) column.values[k] = squares[i][k].values[j];
        tile.at(right * length + j, down) = column;
      }
    }
    __syncthreads();  // what is written was read by other threads
#pragma unroll
    for (int i = 0; i < Tile::squares_of_thread * length; ++i) {
      const int down = static_cast<int>(threadIdx.y) + i * Tile::rows_at_once;
      const Index column = top + right * length;
      if (left + down < cols && column < rows) {
        *reinterpret_cast<Vector<T>*>(y + (left + down) * rows + column) = tile.at(down, right);
      }
    }
    __syncthreads();  // before the next tile overwrites this one
  }
}
//! [transpose_vectors]

template <typename Tile, Start start, typename T>
void transpose_vector_tiles(cudaStream_t stream, const TransposeProblem<T>& p) {
  const dim3 grid = cuda::grid_for(p.rows, p.cols, dim3(Tile::side, Tile::side));
  const dim3 block(Tile::vectors, Tile::rows_at_once);
  launch<start, transpose_vectors_kernel<Tile, start, T>>("transpose_vectors", {grid, block}, stream, p.rows, p.cols,
                                                          p.x, p.y);
}

/// Enqueues the transposition, by vectors where all rows allow it.
template <Start start, typename T>
void transpose_vectors(cudaStream_t stream, const TransposeProblem<T>& p, Workspace& workspace) {
  if (p.rows == 0 || p.cols == 0) return;
  if (!is_aligned(p.x, p.cols) || !is_aligned(p.y, p.rows)) {
    transpose_large_tiles<start>(stream, p, workspace);
  } else if (has_many_large_tiles(p)) {
    transpose_vector_tiles<VectorTile<T, large_side>, start>(stream, p);
  } else {
    transpose_vector_tiles<VectorTile<T, tile_side>, start>(stream, p);
  }
}

}  // namespace stagewise::shared_memory
