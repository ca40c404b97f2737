/// @file
/// What stage 03 computes in its own way: each function enqueues kernels into a stream. Each
/// section is a file of the same name, and all but the losses have a folder of that name, too.
/// Products and convolutions share the loop in tiles/.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "03_shared_memory/tiles/choose_tile.hpp"
#include "cuda/ladder.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// @name gemm.cu: the matrix product, as a ladder of kernels
/// @{

template <typename T>
using GemmRung = Rung<GemmProblem<T>>;

/// The variants of the product, from the slowest to the fastest: stage 02's, and the files in
/// gemm/.
template <typename T>
Ladder<GemmProblem<T>> gemm_ladder();

/// The rung that suits a problem best on the current GPU.
template <typename T>
const GemmRung<T>& pick_gemm(const GemmProblem<T>& problem);

/// The tiles from which a rung picks one for each product, by choose_tile().
template <typename T>
struct GemmTiles {
  std::span<const TileInfo> info = {};

  /// Enqueues a product, m and n at least 1, by one of them.
  /// @param split_k how many blocks share a tile, at most max_split_k().
  void (*run)(cudaStream_t stream, const GemmProblem<T>& problem, std::size_t tile, int split_k,
              Workspace& workspace) = nullptr;
};

/// The tiles of a rung; none if it has only one, or does not multiply such numbers. They can be
/// used where the rung can.
template <typename T>
GemmTiles<T> gemm_tiles(std::string_view rung);

/// Whether the tiles copy a product's factors in vectors, since both consist of them. Two
/// transposed factors, which no network multiplies, have kernels for single scalars only.
template <typename T>
bool copies_vectors(const GemmProblem<T>& problem);

/// C = alpha op(A) op(B) + beta C, by a rung, or, if it is null, by the one that pick_gemm() names;
/// see GemmProblem for shapes. Any sizes, including 0 and 1. With beta = 0, C is written without
/// being read.
/// @throws Error if the rung does not support the problem.
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace,
          const GemmRung<T>* rung = nullptr);

/// @}

/// @name reduce.cu: sums, as a ladder of kernels
/// @{

/// out[j] = the sum of column j of x [rows, cols]: the gradient of a bias.
template <typename T>
struct ColumnSumsProblem {
  Index rows = 0;
  Index cols = 0;
  const T* x = nullptr;
  T* out = nullptr;
};

/// Adds a batch to the epoch's totals; see Accumulate.
template <typename T>
struct AccumulateProblem {
  Index rows = 0;
  const T* row_losses = nullptr;
  const std::int32_t* predictions = nullptr;
  const std::int32_t* labels = nullptr;
  std::int64_t step = 0;
  Totals* totals = nullptr;
};

/// Variants of the sums of columns, such as the gradient of a bias, from the slowest to the
/// fastest; see the files in reduce/.
template <typename T>
Ladder<ColumnSumsProblem<T>> column_sums_ladder();

/// The totals of an epoch, by the tree of that rung, or by shuffles if it is none: one block needs
/// nothing of what the rungs from the seventh on have.
template <typename T>
void accumulate(cudaStream_t stream, std::string_view rung, const AccumulateProblem<T>& problem);

/// The rung that the executor uses where nobody asks for another: the last one but for the one that
/// pays only behind kernels that allow it.
constexpr std::string_view default_reduce_rung = "sentinel";

/// @}

/// @name loss.cu: the losses, a warp a row
/// @{

/// As serial::softmax_cross_entropy().
template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses);

/// As serial::squared_error().
template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses);

/// @}

/// @name convolution.cu: convolution as a matrix product
///
/// Every output pixel sees a window of the input. Written as a row, the window is as long as a
/// filter, and all windows below each other make a matrix. Its product with the filters is the
/// convolution, since both are in the order (i, j, channel):
///
///     windows [pixels, window] x filter [window, out] = output [pixels, out]
///
/// with pixels = batch x output height x output width, window = filter height x width x in. See
/// ConvolutionProblem for the shapes.
/// @{

/// How a convolution is computed.
enum class ConvolutionVariant : std::uint8_t {
  automatic,  ///< by the rule of pick_convolution()
  direct,     ///< stage 02's kernels: one thread per element of what comes out
  implicit    ///< multiplied, with the matrix of windows only where the product loads it
};

/// Whether the products can compute this convolution, with this batch and every smaller one that is
/// not empty: no size may be 0, and the elements of all operands must be countable in ints.
bool fits_windows(const ConvolutionProblem& convolution);

/// The variant that is fastest for this size, of those that are not `automatic`.
ConvolutionVariant pick_convolution(const ConvolutionProblem& problem);

/// Whether stage 02's kernels compute a problem: those that are asked for, or that have nothing to
/// compute or too much to count in ints.
bool is_direct(ConvolutionVariant variant, const ConvolutionProblem& problem);

/// output = the convolution of input and filter. What the products cannot compute, the direct
/// kernels do; see fits_windows().
template <typename T>
void convolution(cudaStream_t stream, ConvolutionVariant variant, const ConvolutionProblem& problem,
                 const T* input, const T* filter, T* output, Workspace& workspace);

/// The gradients of convolution() with respect to its input and its filter, likewise.
/// @param dinput null where nobody needs it.
template <typename T>
void convolution_backward(cudaStream_t stream, ConvolutionVariant variant,
                          const ConvolutionProblem& problem, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, Workspace& workspace);

/// @}

}  // namespace stagewise::shared_memory
