/// @file
/// Convolution, bias, relu and pooling as one product, and the rule that picks its tiles.
///
/// The main loop is stage 03's, dealt out evenly (gemm/stream_k.cuh). New are the order of the rows
/// (convolution/pooled_windows.cuh), how they are loaded (convolution/pooled_copies.cuh), what
/// happens to finished sums (convolution/relu_pool.cuh), and tiles for layers with few channels.

#include "03_shared_memory/gemm/stream_k.cuh"
#include "04_minibatch/convolution.hpp"
#include "04_minibatch/convolution/pool_relu_backward.cuh"
#include "04_minibatch/convolution/pooled_copies.cuh"
#include "04_minibatch/convolution/pooled_windows.cuh"
#include "04_minibatch/convolution/relu_pool.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::ScalarLoader;
using shared_memory::Tiling;
using shared_memory::Tilings;
using shared_memory::VectorLoader;
using shared_memory::Workspace;

//! [tilings]
/// Tiles for 17 to 32 output channels and many pixels, such as the first layer of the cnn: as wide
/// as the product, so that every window is loaded once, and high enough for 8 x 8 sums a thread.
/// The k tiles are thin: that layer has only 25 steps.
template <typename T>
struct Slim;

template <>
struct Slim<float> {
  using Tiles = Tiling<float, 128, 32, 8, 64, 32, 8, 8>;
};

template <>
struct Slim<double> {
  using Tiles = Tiling<double, 128, 32, 8, 32, 32, 4, 8>;
};
//! [tilings]

//! [multiply]
/// The product, in the largest tiles of which there is one for each multiprocessor.
template <typename T, typename Filters>
void multiply(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
              const Filters& filters, Workspace& workspace) {
  const ConvolutionProblem& p = layer.convolution;
  const PooledWindows<T> windows(p, layer.input);
  const ReluPool<T> epilogue(layer);
  const Index multiprocessors = cuda::multiprocessors();
  const auto run = [&]<typename Tiles>(Tiles /*tiles*/) {
    shared_memory::launch_stream_k<PooledCopies, shared_memory::async_stages, T, Tiles>(
        stream, p.output_pixels(), p.out, p.window(), windows, filters, epilogue,
        4 * multiprocessors, workspace);
  };
  const auto suits = [&]<typename Tiles>(Tiles /*tiles*/) {
    return shared_memory::tile_count<Tiles>(p.output_pixels(), p.out) >= multiprocessors;
  };
  using Wide = typename Tilings<T>::Medium;
  using Narrow = typename Slim<T>::Tiles;
  if (p.out <= Tilings<T>::Tall::BN) {
    run(typename Tilings<T>::Tall());
  } else if (p.out <= Narrow::BN && suits(Narrow())) {
    run(Narrow());
  } else if (p.out > Narrow::BN && suits(Wide())) {
    run(Wide());
  } else {
    run(typename Tilings<T>::Small());
  }
}
//! [multiply]

}  // namespace

bool can_fuse_pooling(const ConvolutionProblem& p, Index window) {
  return window == pooling_window && p.output_pixels() > 0 && p.out > 0 && p.window() > 0 &&
         shared_memory::fits_stream_k(p.output_pixels(), p.out, p.window()) &&
         p.batch * p.height * p.width * p.in < shared_memory::beyond;
}

//! [convolution_relu_pool]
template <typename T>
void convolution_relu_pool(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                           Workspace& workspace) {
  const ConvolutionProblem& p = layer.convolution;
  const auto k = static_cast<int>(p.window());
  const auto n = static_cast<int>(p.out);
  if (shared_memory::is_aligned(layer.filter, p.out)) {
    multiply(stream, layer, VectorLoader<T, false>{{layer.filter, n, k}}, workspace);
  } else {
    multiply(stream, layer, ScalarLoader<T>{{layer.filter, n, k}, false}, workspace);
  }
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
                                    Workspace&);
template void convolution_relu_pool(cudaStream_t, const ConvolutionReluPoolProblem<double>&,
                                    Workspace&);
template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const float*, const float*,
                                 float*, float*, Workspace&);
template void pool_relu_backward(cudaStream_t, const PoolingProblem&, const double*, const double*,
                                 double*, double*, Workspace&);

}  // namespace stagewise::minibatch
