/// @file
/// The last layer, the loss and the way back in one kernel: a warp a row.
///
/// The last layer of a classifier has few outputs. As products, its forward pass and the gradient
/// of its input are two launches of next to no work, with a third for the loss between them, and
/// each waits for the one before. But they need only one row at a time: once a warp has the row of
/// the input, it can go all the way to the loss and back. What lies in between stays in registers.
///
/// Each lane holds the sums of all outputs over its part of the inputs; after a tree of shuffles,
/// all lanes hold the outputs, and each computes the loss for itself, as it needs the gradient of
/// every output for its part of the way back.
///
/// Work: rows x in elements read twice, the second time from the cache, and written once; 4 rows in
/// out operations.

#include <type_traits>

#include "03_shared_memory/vector.cuh"
#include "03_shared_memory/warp.cuh"
#include "04_minibatch/activation.cuh"
#include "04_minibatch/block_partial.cuh"
#include "04_minibatch/output_layer.hpp"
#include "04_minibatch/row_loss.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::sum_of_warp;
using shared_memory::Vector;

constexpr int warp_size = 32;
constexpr int threads = 128;
constexpr int warps = threads / warp_size;
constexpr int max_outputs = 32;

/// What the kernel needs of shared memory for its partials.
constexpr Index for_partials = 4096;

//! [fetch]
/// What a block has in shared memory: the weights, each input's row filled up with zeros to `most`,
/// and the rows that its warps work on. The lanes of a warp read neighbouring rows of weights as
/// vectors: an odd number of vectors a row lets them read different banks.
template <int most, typename T>
struct Shared {
  static constexpr int length = Vector<T>::length;
  static constexpr int stride = (most / length | 1) * length;

  T* weights;
  T* inputs;  ///< of this warp

  __device__ Shared(unsigned char* memory, int in)
      : weights(reinterpret_cast<T*>(memory)),
        inputs(weights + in * stride + static_cast<int>(threadIdx.x) / warp_size * in) {}

  static __host__ __device__ std::size_t bytes(Index in) {
    return static_cast<std::size_t>(in * (stride + warps)) * sizeof(T);
  }

  /// Copies the weights. All threads of the block call it.
  __device__ void fetch_weights(const LinearProblem<T>& layer) {
    const auto in = static_cast<int>(layer.in);
    const auto out = static_cast<int>(layer.out);
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < in; i += threads) {
      T row[most];
#pragma unroll
      for (int j = 0; j < most; ++j) row[j] = j < out ? layer.weight[i * out + j] : T{0};
#pragma unroll
      for (int j = 0; j < most; ++j) weights[i * stride + j] = row[j];
    }
    __syncthreads();
  }

  /// Copies a row of the input. All lanes of a warp call it.
  __device__ void fetch_row(const T* x, int in) {
    __syncwarp();
#pragma unroll 8
    for (int i = static_cast<int>(threadIdx.x) % warp_size; i < in; i += warp_size) {
      inputs[i] = x[i];
    }
    __syncwarp();
  }

  /// The weights of an input.
  __device__ void row(int i, T* values) const {
#pragma unroll
    for (int j = 0; j < most; j += length) {
      const auto part = *reinterpret_cast<const Vector<T>*>(weights + i * stride + j);
#pragma unroll
      for (int k = 0; k < length; ++k) values[j + k] = part.values[k];
    }
  }
};
//! [fetch]

//! [output_layer]
/// @tparam most at least as many as there are outputs, so that they can be held in registers.
template <int most, typename T>
__global__ void __launch_bounds__(threads)
    output_layer_kernel(OutputLayerProblem<T> p, BlockPartial* partials) {
  extern __shared__ __align__(16) unsigned char memory[];
  const LinearProblem<T>& layer = p.layer.forward;
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  Shared<most, T> shared(memory, in);
  shared.fetch_weights(layer);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  BlockPartial partial;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < layer.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    shared.fetch_row(layer.input + row * in, in);
    T y[most] = {};
    T weights[most];
#pragma unroll 1
    for (int i = lane; i < in; i += warp_size) {
      shared.row(i, weights);
#pragma unroll
      for (int j = 0; j < most; ++j) y[j] += shared.inputs[i] * weights[j];
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      y[j] = sum_of_warp(y[j]);
      if (j < out && layer.bias != nullptr) y[j] += layer.bias[j];
      y[j] = activate(p.loss.activation, y[j]);
    }

    const std::int32_t label = label_of(p.loss, row);
    T gradient[most] = {};
    const T loss = find_gradients<most>(p.loss, label, y, gradient);
    if (lane == 0) {
      partial.loss += static_cast<double>(loss);
      partial.correct += predict<most>(p.loss, y) == label ? 1 : 0;
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < out && lane == j) p.layer.doutput[row * out + j] = gradient[j];
    }

    if (p.layer.dinput == nullptr) continue;
#pragma unroll 1
    for (int i = lane; i < in; i += warp_size) {
      shared.row(i, weights);
      T sum = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) sum += gradient[j] * weights[j];
      p.layer.dinput[row * in + i] =
          through_activation(p.layer.input_activation, shared.inputs[i], sum);
    }
  }
  store_partial<threads>(partial, partials);
}
//! [output_layer]

template <int most, typename T>
Index launch(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  const LinearProblem<T>& layer = p.layer.forward;
  const Index blocks = std::min(cuda::pieces(layer.rows, warps), max_partials());
  const std::size_t bytes = Shared<most, T>::bytes(layer.in);
  static const bool has_shared_memory = [] {  // more than the 48 KiB that every kernel can have
    const auto all = static_cast<int>(cuda::shared_memory_per_block() - for_partials);
    CUDA_CHECK(cudaFuncSetAttribute(output_layer_kernel<most, T>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, all));
    return true;
  }();
  static_cast<void>(has_shared_memory);
  output_layer_kernel<most><<<static_cast<unsigned>(blocks), threads, bytes, stream>>>(p, partials);
  CUDA_CHECK_LAUNCH("output_layer");
  return blocks;
}

/// Calls `work(a number of outputs)`, known when it is compiled, that is enough for `out`.
template <typename Work>
auto with_outputs(Index out, const Work& work) {
  if (out <= 4) return work(std::integral_constant<int, 4>());
  if (out <= 8) return work(std::integral_constant<int, 8>());
  if (out <= 12) return work(std::integral_constant<int, 12>());
  if (out <= 16) return work(std::integral_constant<int, 16>());
  return work(std::integral_constant<int, max_outputs>());
}

}  // namespace

template <typename T>
bool fits_output_layer(Index in, Index out) {
  const Index most = cuda::shared_memory_per_block() - for_partials;
  return out <= max_outputs && with_outputs(out, [&](auto outputs) {
           return static_cast<Index>(Shared<outputs.value, T>::bytes(in)) <= most;
         });
}

template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  if (p.layer.forward.rows == 0) return 0;
  return with_outputs(p.layer.forward.out,
                      [&](auto most) { return launch<most.value>(stream, p, partials); });
}

template bool fits_output_layer<float>(Index, Index);
template bool fits_output_layer<double>(Index, Index);
template Index output_layer(cudaStream_t, const OutputLayerProblem<float>&, BlockPartial*);
template Index output_layer(cudaStream_t, const OutputLayerProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch
