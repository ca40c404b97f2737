/// @file
/// The gradients of a layer's weights and bias, and their updates; see linear.cu.

#include "04_minibatch/linear.hpp"
#include "04_minibatch/linear/batch_copies.cuh"
#include "04_minibatch/linear/epilogues.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"

namespace stagewise::minibatch {

using shared_memory::StridedMatrix;
using shared_memory::Workspace;

//! [parameter_gradients]
template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& p, const T* one,
                         Workspace& workspace) {
  const LinearProblem<T>& layer = p.forward;
  const auto rows = static_cast<int>(layer.rows);
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  const bool has_bias = p.bias.gradient != nullptr;
  with_lengths<T>(
      is_aligned(layer.input, layer.in), is_aligned(p.doutput, layer.out),
      [&]<int length>() {
        return BatchColumns<T, length>{layer.input, in, rows, layer.order,
                                       has_bias ? one : nullptr};
      },
      [&]<int length>() {
        return StridedMatrix<T, false, length>{p.doutput, out, rows};
      },
      [&](const auto& a, const auto& b) {
        multiply_layer<T>(stream, layer.in + (has_bias ? 1 : 0), layer.out, layer.rows, a, b,
                          UpdateEpilogue<T>(p), workspace);
      });
}
//! [parameter_gradients]

template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<float>&, const float*,
                                  Workspace&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<double>&, const double*,
                                  Workspace&);

}  // namespace stagewise::minibatch
