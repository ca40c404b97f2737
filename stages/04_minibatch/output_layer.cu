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

#include "04_minibatch/output_layer.hpp"
#include "04_minibatch/score.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::all_lanes;

constexpr int warp_size = 32;
constexpr int threads = 128;
constexpr int warps = threads / warp_size;
constexpr int most_outputs = 32;

/// What shared memory can hold on every GPU without asking, beside the kernel's own.
constexpr std::size_t most_shared = 44 * 1024;

/// The sum over a warp, for all of its lanes, with the same bits.
template <typename T>
__device__ T sum_for_all(T value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(all_lanes, value, distance);
  }
  return value;
}

/// Lanes ask for this many inputs before they use the first, so that the loads wait together.
constexpr int at_once = 8;

/// The weights [in, out], where a block reads them.
template <typename T>
struct Weights {
  const T* data;
  int of_input;   ///< distance from an input to the next
  int of_output;  ///< distance from an output to the next

  __device__ T get(int input, int output) const {
    return data[input * of_input + output * of_output];
  }
};

//! [weights]
/// Copies the weights to shared memory, if there is room: transposed, as neighbouring lanes read
/// those of neighbouring inputs. All threads of the block call it.
template <int most, typename T>
__device__ Weights<T> fetch_weights(const LinearProblem<T>& layer, bool fits, T* shared) {
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  if (!fits) return {layer.weight, out, 1};
  const int length = in | 1;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < in; i += threads) {
    T row[most];
#pragma unroll
    for (int j = 0; j < most; ++j) {
      row[j] = j < out ? layer.weight[i * out + j] : T{0};
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < out) shared[j * length + i] = row[j];
    }
  }
  __syncthreads();
  return {shared, 1, length};
}
//! [weights]

//! [loss]
/// From the outputs of a row, the same in all lanes, to the gradients before their activation.
/// @return the row's loss.
template <int most, typename T>
__device__ T find_gradients(const LossProblem<T>& p, std::int32_t label, const T* y, T* gradient) {
  const auto classes = static_cast<int>(p.classes);
  const auto rows = static_cast<T>(p.rows);
  T loss = 0;
  if (p.form == LossForm::softmax_cross_entropy) {
    T largest = y[0];
#pragma unroll
    for (int j = 1; j < most; ++j) {
      if (j < classes && y[j] > largest) largest = y[j];
    }
    T sum = 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= classes) continue;
      gradient[j] = exp(y[j] - largest);
      sum += gradient[j];
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= classes) continue;
      const T onehot = j == label ? T{1} : T{0};
      gradient[j] = through_activation(p.activation, y[j], (gradient[j] / sum - onehot) / rows);
      if (j == label) loss = log(sum) - (y[j] - largest);
    }
    return loss;
  }
#pragma unroll
  for (int j = 0; j < most; ++j) {
    if (j >= classes) continue;
    const T onehot = j == label ? T{1} : T{0};
    const T difference = y[j] - (classes == 1 ? static_cast<T>(label) : onehot);
    loss += difference * difference;
    gradient[j] = through_activation(p.activation, y[j], 2 * difference / rows);
  }
  return loss;
}
//! [loss]

/// The class that a row's outputs name; the lowest wins ties.
template <int most, typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y) {
  if (p.is_cut) return y[0] >= p.cut ? 1 : 0;
  int best = 0;
  T largest = y[0];
#pragma unroll
  for (int j = 1; j < most; ++j) {
    if (j >= p.classes || !(y[j] > largest)) continue;
    largest = y[j];
    best = j;
  }
  return best;
}

template <typename T>
__device__ T activate(Activation activation, T x) {
  if (activation == Activation::relu) return x < 0 ? T{0} : x;
  if (activation == Activation::sigmoid) return T{1} / (T{1} + exp(-x));
  return x;
}

//! [forward]
/// The sums of one lane's part of the inputs, for each output.
template <int most, typename T>
__device__ void multiply_part(const Weights<T>& weights, const T* x, int in, int out, T* y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int first = lane; first < in; first += at_once * warp_size) {
    T values[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = first + k * warp_size;
      values[k] = i < in ? x[i] : T{0};
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = first + k * warp_size;
      if (i >= in) break;
#pragma unroll
      for (int j = 0; j < most; ++j) {
        if (j < out) y[j] += values[k] * weights.get(i, j);
      }
    }
  }
}
//! [forward]

//! [backward]
/// The gradient of one lane's part of the inputs.
template <int most, typename T>
__device__ void give_back_part(const Weights<T>& weights, const T* gradient, const T* x, int in,
                               int out, Activation activation, T* dx) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int first = lane; first < in; first += at_once * warp_size) {
    T values[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = first + k * warp_size;
      values[k] = i < in ? x[i] : T{0};
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = first + k * warp_size;
      if (i >= in) break;
      T sum = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) {
        if (j < out) sum += gradient[j] * weights.get(i, j);
      }
      dx[i] = through_activation(activation, values[k], sum);
    }
  }
}
//! [backward]

//! [output_layer]
/// @tparam most at least as many as there are outputs, so that they can be held in registers.
template <int most, typename T>
__global__ void __launch_bounds__(threads)
    output_layer_kernel(OutputLayerProblem<T> p, bool weights_fit, Score* scores) {
  extern __shared__ __align__(16) unsigned char memory[];
  const LinearProblem<T>& layer = p.layer.forward;
  const Weights<T> weights = fetch_weights<most>(layer, weights_fit, reinterpret_cast<T*>(memory));
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Score score;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < layer.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    const T* const x = layer.input + row * in;
    T y[most] = {};
    multiply_part<most>(weights, x, in, out, y);
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= out) continue;
      y[j] = sum_for_all(y[j]) + (layer.bias != nullptr ? layer.bias[j] : T{0});
      y[j] = activate(p.loss.activation, y[j]);
    }

    const std::int32_t label = label_of(p.loss, row);
    T gradient[most];
    const T loss = find_gradients<most>(p.loss, label, y, gradient);
    if (lane == 0) {
      score.loss += static_cast<double>(loss);
      score.correct += predict<most>(p.loss, y) == label ? 1 : 0;
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < out && lane == j) p.layer.doutput[row * out + j] = gradient[j];
    }
    if (p.layer.dinput == nullptr) continue;
    give_back_part<most>(weights, gradient, x, in, out, p.layer.input_activation,
                         p.layer.dinput + row * in);
  }
  leave_score<threads>(score, scores);
}
//! [output_layer]

template <int most, typename T>
Index launch(cudaStream_t stream, const OutputLayerProblem<T>& p, Score* scores) {
  const LinearProblem<T>& layer = p.layer.forward;
  const Index blocks = std::min(cuda::pieces(layer.rows, warps), most_scores());
  const std::size_t bytes = static_cast<std::size_t>((layer.in | 1) * layer.out) * sizeof(T);
  const bool fits = bytes <= most_shared;
  output_layer_kernel<most>
      <<<static_cast<unsigned>(blocks), threads, fits ? bytes : 0, stream>>>(p, fits, scores);
  CUDA_CHECK_LAUNCH("output_layer");
  return blocks;
}

}  // namespace

bool fits_output_layer(Index classes) {
  return classes <= most_outputs;
}

template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& p, Score* scores) {
  if (p.layer.forward.rows == 0) return 0;
  constexpr int few = most_outputs / 2;
  if (p.layer.forward.out <= few) return launch<few>(stream, p, scores);
  return launch<most_outputs>(stream, p, scores);
}

template Index output_layer(cudaStream_t, const OutputLayerProblem<float>&, Score*);
template Index output_layer(cudaStream_t, const OutputLayerProblem<double>&, Score*);

}  // namespace stagewise::minibatch
