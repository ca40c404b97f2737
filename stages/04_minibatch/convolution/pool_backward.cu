/// @file
/// Back through the pooling, the relu and the bias in one pass.
///
/// Stage 03 spread the gradient over the windows in memory, read and wrote it again for the relu,
/// and read it once more for the bias. Here a thread takes a window of one channel: it reads the
/// window's gradient once, asks of each pixel whether the relu let it pass, writes the pixel's
/// gradient, and adds it to its sum for the bias. Those sums are added up as in rung 8 of the
/// reductions: by the last block, in the order of the blocks, so with the same bits in every run.
///
/// Run it: `stage04_minibatch train --model cnn`.
/// Bytes, for pixels x out values: 2.25 times as many moved (values read, gradients written, a
/// quarter of gradients read), where stage 03 moves 5.25; two operations each.

#include <algorithm>

#include "03_shared_memory/reduce/8_one_pass.cuh"
#include "04_minibatch/convolution/convolution.hpp"
#include "04_minibatch/convolution/windows.cuh"

namespace stagewise::minibatch {
namespace {

/// The operands; the arrays as in pool_relu_backward().
template <typename T>
struct PoolReluBackward {
  PoolingOrder order;
  int windows;  ///< pixels of all pooled images
  Index cols;   ///< channels
  Index below;  ///< from a pixel to the one below
  const T* doutput;
  const T* activated;
  T* dsum;
  T* dbias;  ///< null: none
  T* sums;   ///< room for those of each block
  unsigned* counters;

  /// How far a pixel of a window is from its first.
  __device__ Index offset(int i) const {
    return i / pooling_window * below + i % pooling_window * cols;
  }

  /// The gradients of a window's pixels in one column, written; and their sum.
  __device__ T window(int number, Index column) const {
    const T share = doutput[number * cols + column] * (T{1} / pooled_pixels);
    const Index first = order.pixel(number, 0) * cols + column;
    T values[pooled_pixels];  // loaded together, before anything is stored
#pragma unroll
    for (int i = 0; i < pooled_pixels; ++i) values[i] = activated[first + offset(i)];
    T sum = 0;
#pragma unroll
    for (int i = 0; i < pooled_pixels; ++i) {
      const T gradient = values[i] > 0 ? share : T{0};
      dsum[first + offset(i)] = gradient;
      sum += gradient;
    }
    return sum;
  }
};

/// Block (x, y) takes windows y * 32 to y * 32 + 31 of its 32 columns, then those gridDim.y * 32
/// windows further on. The last one of the column of blocks adds up their sums.
template <typename T>
__global__ void __launch_bounds__(1024, 2) pool_relu_backward_kernel(PoolReluBackward<T> p) {
  __shared__ T partial[shared_memory::column_tile][shared_memory::column_tile];
  const Index column = cuda::index_x();
  T sum = 0;
  if (column < p.cols) {
    const auto stride = static_cast<int>(cuda::rows_in_grid());
    for (auto i = static_cast<int>(cuda::index_y()); i < p.windows; i += stride) {
      sum += p.window(i, column);
    }
  }
  if (p.dbias == nullptr) return;

  partial[threadIdx.y][threadIdx.x] = sum;
  shared_memory::add_up_columns(partial);
  T* const to = gridDim.y == 1 ? p.dbias : p.sums + blockIdx.y * p.cols;
  if (threadIdx.y == 0 && column < p.cols) to[column] = partial[0][threadIdx.x];
  if (gridDim.y == 1) return;
  if (!shared_memory::is_last_block(p.counters + blockIdx.x, gridDim.y)) return;

  sum = 0;
  if (column < p.cols) {
    for (unsigned i = threadIdx.y; i < gridDim.y; i += shared_memory::column_tile) {
      sum += p.sums[i * p.cols + column];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  shared_memory::add_up_columns(partial);
  if (threadIdx.y == 0 && column < p.cols) p.dbias[column] = partial[0][threadIdx.x];
}

}  // namespace

template <typename T>
void pool_relu_backward(cudaStream_t stream, const PoolingProblem& p, const T* activated,
                        const T* doutput, T* dsum, T* dbias, Workspace& workspace) {
  const PoolReluBackward<T> operands = {
      .order = PoolingOrder(p.width),
      .windows = static_cast<int>(p.output_elements() / p.channels),
      .cols = p.channels,
      .below = p.width * p.channels,
      .doutput = doutput,
      .activated = activated,
      .dsum = dsum,
      .dbias = dbias,
      .sums = workspace.partials<T>(),
      .counters = workspace.counters()};
  // No more blocks than the GPU runs at once, two of 1,024 threads a multiprocessor; so workspace
  // and counters suffice, as in rung 8.
  constexpr Index tile = shared_memory::column_tile;
  const Index across = cuda::pieces(p.channels, tile);
  const Index most = std::max<Index>(2 * Index{cuda::multiprocessors()} / across, 1);
  const Index down = std::clamp<Index>(cuda::pieces(operands.windows, tile), 1, most);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
  pool_relu_backward_kernel<<<grid, dim3(tile, tile), 0, stream>>>(operands);
  CUDA_CHECK_LAUNCH("pool_relu_backward");
}

template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const float*, const float*,
                                 float*, float*, Workspace&);
template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const double*, const double*,
                                 double*, double*, Workspace&);

}  // namespace stagewise::minibatch
