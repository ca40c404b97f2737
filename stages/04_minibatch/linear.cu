/// @file
/// A fully connected layer: the products of stage 03, with everything around them done on the way
/// in (linear/loaders.cuh) and on the way out (linear/epilogues.cuh).
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

#include "03_shared_memory/gemm/stream_k.cuh"
#include "04_minibatch/linear.hpp"
#include "04_minibatch/linear/epilogues.cuh"
#include "04_minibatch/linear/loaders.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::is_aligned;
using shared_memory::multiply_stream_k;
using shared_memory::ScalarLoader;
using shared_memory::Vector;
using shared_memory::VectorLoader;
using shared_memory::Workspace;

/// Calls `multiply(a, b)` with the loader of vectors for each factor that has them, or of scalars.
/// Each pair is a kernel, so only the pairs that are common are made: see gemm/loader.cuh.
template <typename VectorsA, typename ScalarsA, typename VectorsB, typename ScalarsB,
          typename Multiply>
void with_loaders(bool a_has_vectors, bool b_has_vectors, const VectorsA& vectors_a,
                  const ScalarsA& scalars_a, const VectorsB& vectors_b, const ScalarsB& scalars_b,
                  const Multiply& multiply) {
  if (!a_has_vectors) return multiply(scalars_a, scalars_b);
  if (!b_has_vectors) return multiply(vectors_a, scalars_b);
  multiply(vectors_a, vectors_b);
}

}  // namespace

bool fits_linear(Index rows, Index in, Index out) {
  return shared_memory::fits_stream_k(rows, out, in) &&
         shared_memory::fits_stream_k(rows, in, out) &&
         shared_memory::fits_stream_k(in + 1, out, rows);
}

//! [linear]
template <typename T>
void linear(cudaStream_t stream, const LinearProblem<T>& p, Workspace& workspace) {
  constexpr int length = Vector<T>::length;
  const auto rows = static_cast<int>(p.rows);
  const auto in = static_cast<int>(p.in);
  const auto out = static_cast<int>(p.out);
  const bool input_has_vectors = is_aligned(p.input, p.in);
  const bool weight_has_vectors = is_aligned(p.weight, p.out);
  const VectorLoader<T, false> vectors_of_weight = {{p.weight, out, in}};
  const ScalarLoader<T> scalars_of_weight = {{p.weight, out, in}, false};
  const auto multiply = [&](const auto& a, const auto& b) {
    multiply_stream_k<T>(stream, p.rows, p.out, p.in, a, b, BiasActivation<T>(p), workspace);
  };
  if (p.order != nullptr) {
    with_loaders(input_has_vectors, weight_has_vectors,
                 SelectedRows<T, length>{p.input, rows, in, p.order},
                 SelectedRows<T, 1>{p.input, rows, in, p.order}, vectors_of_weight,
                 scalars_of_weight, multiply);
  } else {
    with_loaders(input_has_vectors, weight_has_vectors, VectorLoader<T, true>{{p.input, rows, in}},
                 ScalarLoader<T>{{p.input, rows, in}, true}, vectors_of_weight, scalars_of_weight,
                 multiply);
  }
}
//! [linear]

//! [input_gradient]
template <typename T>
void input_gradient(cudaStream_t stream, const LinearBackwardProblem<T>& p, Workspace& workspace) {
  const LinearProblem<T>& layer = p.forward;
  const auto rows = static_cast<int>(layer.rows);
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  // Both factors have rows of `out` elements.
  const bool have_vectors = is_aligned(p.doutput, layer.out) && is_aligned(layer.weight, layer.out);
  with_loaders(have_vectors, have_vectors, VectorLoader<T, true>{{p.doutput, rows, out}},
               ScalarLoader<T>{{p.doutput, rows, out}, true},
               VectorLoader<T, true>{{layer.weight, in, out}},
               ScalarLoader<T>{{layer.weight, in, out}, true}, [&](const auto& a, const auto& b) {
                 multiply_stream_k<T>(stream, layer.rows, layer.in, layer.out, a, b,
                                      ThroughActivation<T>(p), workspace);
               });
}
//! [input_gradient]

//! [parameter_gradients]
template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& p, const T* one,
                         Workspace& workspace) {
  constexpr int length = Vector<T>::length;
  const LinearProblem<T>& layer = p.forward;
  const auto rows = static_cast<int>(layer.rows);
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  const bool has_bias = p.bias.gradient != nullptr;
  const bool input_has_vectors = is_aligned(layer.input, layer.in);
  const bool doutput_has_vectors = is_aligned(p.doutput, layer.out);
  const auto run = [&](const auto& vectors_of_input, const auto& scalars_of_input) {
    using Vectors = std::decay_t<decltype(vectors_of_input)>;
    using Scalars = std::decay_t<decltype(scalars_of_input)>;
    with_loaders(input_has_vectors, doutput_has_vectors,
                 WithOnes<T, Vectors>{vectors_of_input, one, has_bias},
                 WithOnes<T, Scalars>{scalars_of_input, one, has_bias},
                 VectorLoader<T, false>{{p.doutput, out, rows}},
                 ScalarLoader<T>{{p.doutput, out, rows}, false}, [&](const auto& a, const auto& b) {
                   multiply_stream_k<T>(stream, layer.in + (has_bias ? 1 : 0), layer.out,
                                        layer.rows, a, b, UpdateEpilogue<T>(p), workspace);
                 });
  };
  if (const std::uint32_t* const order = layer.order) {
    run(SelectedSteps<T, length>{layer.input, in, rows, order},
        SelectedSteps<T, 1>{layer.input, in, rows, order});
  } else {
    run(VectorLoader<T, false>{{layer.input, in, rows}},
        ScalarLoader<T>{{layer.input, in, rows}, false});
  }
}
//! [parameter_gradients]

template void linear(cudaStream_t, const LinearProblem<float>&, Workspace&);
template void linear(cudaStream_t, const LinearProblem<double>&, Workspace&);
template void input_gradient(cudaStream_t, const LinearBackwardProblem<float>&, Workspace&);
template void input_gradient(cudaStream_t, const LinearBackwardProblem<double>&, Workspace&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<float>&, const float*,
                                  Workspace&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<double>&, const double*,
                                  Workspace&);

}  // namespace stagewise::minibatch
