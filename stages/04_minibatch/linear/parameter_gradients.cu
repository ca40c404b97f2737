/// @file
/// The gradients of a layer's weights and bias, and their updates; see linear.cu.

#include "04_minibatch/linear/batch.cuh"
#include "04_minibatch/linear/epilogues.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/output_layer/shares.cuh"

namespace stagewise::minibatch {

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

template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<float>&, const float*,
                                  Workspace&, bool, const SharesProblem<float>&);
template void parameter_gradients(cudaStream_t, const LinearBackwardProblem<double>&, const double*,
                                  Workspace&, bool, const SharesProblem<double>&);

}  // namespace stagewise::minibatch
