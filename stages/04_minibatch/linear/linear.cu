/// @file
/// A fully connected layer: the products of stage 03, with everything around them done on the way
/// in (linear/batch.cuh) and on the way out (linear/epilogues.cuh).
///
/// What stage 03 did in nine launches for a hidden layer takes three:
///
///     forward     output = activation(input weight + bias)
///     backward    dinput = (doutput weight^T), through the activation of the layer below
///                 [weight; bias] -= learning rate ([input | 1]^T doutput + l2 weight)
///
/// The order of the last two matters: dinput is computed from the weights as they were.
///
/// Work: forward 2 rows in out operations, backward twice as many. Each operand is read once for
/// each tile that needs it, each result written once; nothing else goes to memory.

#include "04_minibatch/linear/batch.cuh"
#include "04_minibatch/linear/epilogues.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/output_layer/shares.cuh"

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
  return shared_memory::fits_ints(rows, out, in + 1);
}

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

template <typename T>
void input_gradient(cudaStream_t stream, const LinearBackwardProblem<T>& p, Workspace& workspace) {
  const LinearProblem<T>& layer = p.forward;
  // Both factors have rows of `out` elements.
  const bool have_vectors = is_aligned(p.doutput, layer.out) && is_aligned(layer.weight, layer.out);
  const auto multiply = [&]<int length>() {
    multiply_layer<T>(stream, {layer.rows, layer.in, layer.out},
                      StridedMatrix<T, true, length>(p.doutput, layer.rows, layer.out),
                      StridedMatrix<T, true, length, LayerTiles<T>::Vectors::transposes_b>(
                          layer.weight, layer.in, layer.out),
                      ThroughActivation<T>(p), workspace);
  };
  have_vectors ? multiply.template operator()<shared_memory::Vector<T>::length>()
               : multiply.template operator()<1>();
}

/// What the blocks do besides; see shared_memory::NoPrologue.
template <typename T>
struct AddShares {
  SharesProblem<T> problem;

  /// All threads of block number `block` call it.
  template <int threads>
  __device__ void run(int block, int blocks) const {
    add_up_shares<threads>(problem, block, blocks);
  }
};

template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& p, const T* one,
                         Workspace& workspace, bool input_is_independent,
                         const SharesProblem<T>& last) {
  const LinearProblem<T>& layer = p.forward;
  const auto rows = static_cast<int>(layer.rows);
  const auto in = static_cast<int>(layer.in);
  const Index stride = layer.input_stride > 0 ? layer.input_stride : layer.in;
  const bool has_bias = p.bias.gradient != nullptr;
  with_lengths<T>(
      is_aligned(layer.input, stride) && is_aligned(layer.input, layer.in),
      is_aligned(p.doutput, layer.out),
      [&]<int length>() {
        return BatchColumns<T, length>{
            layer.input, in, rows, layer.order, has_bias ? one : nullptr, static_cast<int>(stride)};
      },
      [&]<int length>() {
        return StridedMatrix<T, false, length>(p.doutput, layer.out, layer.rows);
      },
      [&](const auto& a, const auto& b) {
        multiply_layer<T, typename LayerTiles<T>::Gradients>(
            stream, {layer.in + (has_bias ? 1 : 0), layer.out, layer.rows}, a, b,
            UpdateEpilogue<T>(p), workspace, input_is_independent, AddShares<T>{last});
      });
}

template void linear(cudaStream_t, const LinearProblem<float>&, Workspace&, bool);
template void linear(cudaStream_t, const LinearProblem<double>&, Workspace&, bool);
template void input_gradient(cudaStream_t, const LinearBackwardProblem<float>&, Workspace&);
template void input_gradient(cudaStream_t, const LinearBackwardProblem<double>&, Workspace&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<float>&, const float*,
                                  Workspace&, bool, const SharesProblem<float>&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<double>&, const double*,
                                  Workspace&, bool, const SharesProblem<double>&);

}  // namespace stagewise::minibatch
