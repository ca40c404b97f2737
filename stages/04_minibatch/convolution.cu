/// @file
/// Convolution, bias, relu and pooling as one product.
///
/// The product is stage 03's in fitted tiles. New are its factor (convolution/windows.cuh), how it
/// is copied (convolution/offset_copies.cuh), what happens to finished sums
/// (convolution/relu_pool.cuh), and tiles for few columns (convolution/convolution_tiles.cuh). The
/// gradients are in convolution/filter_gradient.cu and convolution/input_gradient.cu.
///
/// Operations: 2 x pixels x out x window. Each tile of columns reads the input once from memory;
/// what overlapping windows share comes from a cache.

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/convolution/convolution_tiles.cuh"
#include "04_minibatch/convolution/pool_relu_backward.cuh"
#include "04_minibatch/convolution/relu_pool.cuh"

namespace stagewise::minibatch {

using shared_memory::is_aligned;
using shared_memory::StridedMatrix;
using shared_memory::Workspace;

bool fits_windows(const ConvolutionProblem& p) {
  return p.output_pixels() > 0 && p.out > 0 && p.window() > 0 &&
         shared_memory::fits_ints(p.output_pixels(), p.out, p.window()) &&
         p.output_pixels() * p.out < shared_memory::beyond &&
         p.window() * p.out < shared_memory::beyond &&
         p.batch * p.height * p.width * p.in < shared_memory::beyond;
}

bool can_fuse_pooling(const ConvolutionProblem& p, Index window) {
  return window == pooling_window && fits_windows(p);
}

//! [convolution_relu_pool]
template <typename T>
void convolution_relu_pool(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                           Workspace& workspace, Math math) {
  const ConvolutionProblem& p = layer.convolution;
  const auto k = static_cast<int>(p.window());
  const auto n = static_cast<int>(p.out);
  const auto multiply = [&]<typename Tiles, typename Table, int length>() {
    with_planned_tiling<Table, T>(
        p.output_pixels(), p.out, p.window(), [&]<typename Tiling>(Tiling /*tiling*/, int parts) {
          constexpr int apart = Tiles::template apart<Tiling>;
          launch_layer<Tiling, T, Tiles>(
              stream, pooled_rows(p.output_pixels() / pooled_pixels, apart), n, k,
              PooledWindows<T, length, apart>(p, layer.input),
              StridedMatrix<T, false, length>{layer.filter, n, k}, false, ReluPool<T, apart>(layer),
              NothingElse(), parts, workspace);
        });
  };
  with_tables<T>(math, is_aligned(layer.input, p.in) && is_aligned(layer.filter, p.out), multiply);
}
//! [convolution_relu_pool]

template <typename T>
void pool_relu_backward(cudaStream_t stream, const PoolingProblem& p, const T* activated,
                        const T* doutput, T* dsum, T* dbias, Workspace& workspace) {
  launch_pool_relu_backward<T>(stream,
                               {.order = PoolingOrder(p.width),
                                .windows = static_cast<int>(p.output_elements() / p.channels),
                                .cols = p.channels,
                                .below = p.width * p.channels,
                                .doutput = doutput,
                                .activated = activated,
                                .dsum = dsum,
                                .dbias = dbias,
                                .sums = workspace.partials<T>(),
                                .counters = workspace.counters()});
}

template void convolution_relu_pool(cudaStream_t, const ConvolutionReluPoolProblem<float>&,
                                    Workspace&, Math);
template void convolution_relu_pool(cudaStream_t, const ConvolutionReluPoolProblem<double>&,
                                    Workspace&, Math);
template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const float*, const float*,
                                 float*, float*, Workspace&);
template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const double*, const double*,
                                 double*, double*, Workspace&);

}  // namespace stagewise::minibatch
