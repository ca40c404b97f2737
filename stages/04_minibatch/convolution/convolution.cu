/// @file
/// Convolution, bias, relu and pooling as one product.
///
/// The product is stage 03's convolution. New are the order of the windows
/// (convolution/windows.cuh) and what happens to finished sums (convolution/relu_pool.cuh). The
/// gradients of the convolution itself are stage 03's.
///
/// Operations: 2 x pixels x out x window. Each tile of columns reads the input once from memory;
/// what overlapping windows share comes from a cache.

#include "03_shared_memory/kernels.hpp"
#include "04_minibatch/convolution/convolution.hpp"
#include "04_minibatch/convolution/relu_pool.cuh"

namespace stagewise::minibatch {

bool can_fuse_pooling(const ConvolutionProblem& p, Index window) {
  return window == pooling_window && shared_memory::fits_windows(p);
}

template <typename T>
void convolution_relu_pool(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                           Workspace& workspace) {
  convolution_relu_pool_in<shared_memory::ConvolutionTiles<T>>(stream, layer, workspace);
}

template void convolution_relu_pool(cudaStream_t, const ConvolutionReluPoolProblem<float>&,
                                    Workspace&);
template void convolution_relu_pool(cudaStream_t, const ConvolutionReluPoolProblem<double>&,
                                    Workspace&);

}  // namespace stagewise::minibatch
