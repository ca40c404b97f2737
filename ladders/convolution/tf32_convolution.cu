/// @file
/// The convolutions of stages 03 and 04 on tensor cores, in TF32.
///
/// The products are theirs; only the unit that multiplies is another, and with it the tiles. The
/// price is accuracy, as in rung `tf32` of the products (ladders/gemm/rounded/15_tf32.cu).
///
/// Run it: `ladder tf32 train --model cnn`.
/// Work: as stages 03 and 04.

#include "03_shared_memory/convolution/products.cuh"
#include "04_minibatch/convolution/relu_pool.cuh"
#include "ladders/convolution/tf32_convolution.hpp"
#include "ladders/gemm/rounded/mma_tf32.cuh"

namespace stagewise::ladder {
namespace {

using shared_memory::MmaTf32;
using shared_memory::RatedTile;

//! [tf32_tiles]
/// See shared_memory::ConvolutionTiles. Where channels are copied one by one, nothing is rounded.
struct Tf32Tiles {
  // rate, BM, BN, BK, WM, WN, slice-k, buffers, blocks
  using Vectors = shared_memory::LayerTable<
      MmaTf32, RatedTile<330, 128, 64, 32, 64, 32, 1, 3, 2>, RatedTile<320, 128, 32, 32, 64, 32, 1, 3, 3>,
      RatedTile<330, 64, 64, 32, 32, 32, 1, 3, 2>, RatedTile<335, 32, 32, 64, 32, 32, 4, 3, 2>>;
  using Scalars = shared_memory::ConvolutionTiles<float>::Scalars;
};
//! [tf32_tiles]

}  // namespace

void convolution_relu_pool_in_tf32(cudaStream_t stream, const ConvolutionReluPoolProblem<float>& layer,
                                   Workspace& workspace) {
  minibatch::convolution_relu_pool_in<Tf32Tiles>(stream, layer, workspace);
}

void filter_gradient_in_tf32(cudaStream_t stream, const ConvolutionProblem& convolution, const float* input,
                             const float* doutput, float* dfilter, Workspace& workspace) {
  shared_memory::filter_gradient<Tf32Tiles>(stream, convolution, input, doutput, dfilter, workspace);
}

void input_gradient_in_tf32(cudaStream_t stream, const ConvolutionProblem& convolution, const float* filter,
                            const float* doutput, float* dinput, Workspace& workspace) {
  shared_memory::input_gradient<Tf32Tiles>(stream, convolution, filter, doutput, dinput, workspace);
}

}  // namespace stagewise::ladder
