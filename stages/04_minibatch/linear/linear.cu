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
/// The order of the last two matters: dinput is computed from the weights as they were. The way back
/// is in input_gradient.cu and parameter_gradients.cu, which compile beside this file.
///
/// Work: forward 2 rows in out operations, backward twice as many. Each operand is read once for
/// each tile that needs it, each result written once; nothing else goes to memory.

#include "04_minibatch/linear/batch.cuh"
#include "04_minibatch/linear/epilogues.cuh"
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

template void linear(cudaStream_t, const LinearProblem<float>&, Workspace&, bool);
template void linear(cudaStream_t, const LinearProblem<double>&, Workspace&, bool);

}  // namespace stagewise::minibatch
