/// @file
/// A fully connected layer forward: the product of stage 03 (tiles/tiles.cuh), with everything
/// around it done on the way in and on the way out.
///
/// Stage 03 gathered the batch, stored the product, and the kernels after it read it again: to add
/// the bias, to apply the activation, to take a gradient through it, to update the weights. Each of
/// these is a few instructions for an element, and cost a trip to memory and back, and a launch.
/// Here a factor is read where it is, and an epilogue (tiles/finish.cuh) does the rest in
/// registers.
///
/// What stage 03 did in nine launches for a hidden layer takes three:
///
///     forward     output = activation(input weight + bias)
///     backward    dinput = (doutput weight^T), through the activation of the layer below
///                 [weight; bias] -= learning rate ([input | 1]^T doutput + l2 weight)
///
/// The order of the last two matters: dinput is computed from the weights as they were. The way
/// back is in input_gradient.cu and parameter_gradients.cu, which are compiled in parallel with
/// this file.
///
/// Work: forward 2 rows in out operations, backward twice as many. Each operand is read once for
/// each tile that needs it, each result written once; nothing else goes to memory.

#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"

namespace stagewise::minibatch {

bool computes(Activation activation) {
  bool found = activation == Activation::none;
  with_activation(activation, [&]<Activation a>() {
    found = requires {
      Function<a>();
    };
  });
  return found;
}

bool fits_linear(Index rows, Index in, Index out) {
  return fits_ints(rows, out, in + 1);
}

//! [batch_rows]
/// The batch as A: a row is a sample, which need not be copied to stand beside the others, as stage
/// 03's host had to do. Only the address at which a row begins differs. A step is a feature.
/// @tparam length_ how many features can be copied at once.
template <typename T, int length_>
struct BatchRows {
  using Scalar = T;
  static constexpr bool k_major = true;  ///< features are neighbours in memory, and so are steps
  static constexpr bool is_transposed = false;
  static constexpr int length = length_;
  template <int extent, int BK, int threads>
  using Copies = shared_memory::StridedCopies<BatchRows, extent, BK, threads>;

  const T* data;
  int rows;   ///< of the batch
  int steps;  ///< features
  const std::uint32_t* order;

  __device__ Index step_stride() const { return 1; }

  /// Where a row has a feature. Past the last row, the first stands in; nothing is copied.
  __device__ const T* at(int row, int step) const {
    const int inside = row < rows ? row : 0;
    const Index sample = order != nullptr ? order[inside] : inside;
    return data + sample * steps + step;
  }
};
//! [batch_rows]

//! [bias_activation]
/// activation(sum + bias).
template <typename T>
struct BiasActivation : shared_memory::StoredRows<T> {
  static constexpr int read_ahead = 4;  // biases are few, and near

  const T* bias;  ///< null: none
  Activation activation;

  explicit BiasActivation(const LinearProblem<T>& p)
      : shared_memory::StoredRows<T>(p.output, p.out, p.bias),
        bias(p.bias),
        activation(p.activation) {}

  /// See tiles/finish.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    with_function(activation, [&]<Activation chosen>() {
      work([&](int /*row*/) { return bias; },
           [&](int /*row*/, T sum, T b) { return Function<chosen>::of(sum + b); });
    });
  }
};
//! [bias_activation]

//! [linear]
template <typename T>
void linear(cudaStream_t stream, const LinearProblem<T>& p, Workspace& workspace,
            bool input_is_independent) {
  const auto rows = static_cast<int>(p.rows);
  const auto in = static_cast<int>(p.in);
  with_lengths<T>(
      is_aligned(p.input, p.in), is_aligned(p.weight, p.out),
      [&]<int length>() {
        return BatchRows<T, length>{p.input, rows, in, p.order};
      },
      [&]<int length>() { return StridedMatrix<T, false, length>(p.weight, p.out, p.in); },
      [&](const auto& a, const auto& b) {
        multiply_layer<T>(stream, {p.rows, p.out, p.in}, a, b, BiasActivation<T>(p), workspace,
                          input_is_independent);
      });
}
//! [linear]

template void linear(cudaStream_t, const LinearProblem<float>&, Workspace&, bool);
template void linear(cudaStream_t, const LinearProblem<double>&, Workspace&, bool);

}  // namespace stagewise::minibatch
