/// @file
/// The gradients of a layer's weights and bias, and their updates; see linear.cu.

#include "04_minibatch/linear/batch_columns.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/output_layer/shares.cuh"

namespace stagewise::minibatch {

//! [update_epilogue]
/// The gradients of the weights and, in the last row, of the bias: stored, or used at once to
/// update what they are the gradients of.
template <typename T>
struct UpdateEpilogue : shared_memory::StoredRows<T> {
  static constexpr int read_ahead = 16;

  GradientTarget<T> weight;
  GradientTarget<T> bias;
  T* written_bias;
  int in;

  explicit UpdateEpilogue(const LinearBackwardProblem<T>& p)
      : shared_memory::StoredRows<T>(written(p.weight), p.forward.out, written(p.bias)),
        weight(p.weight),
        bias(p.bias),
        written_bias(written(p.bias)),
        in(static_cast<int>(p.forward.in)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const {
    return i < in ? shared_memory::StoredRows<T>::row(i) : written_bias;
  }

  //! [update_at_once]
  /// See tiles/finish.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    const bool updates_weight = weight.parameter != nullptr;
    const bool updates_bias = bias.parameter != nullptr;
    const auto updates = [=, this](int i) { return i < in ? updates_weight : updates_bias; };
    work([&](int i) { return updates(i) ? row(i) : nullptr; },
         [&](int i, T sum, T value) {
           const T learning_rate = i < in ? weight.learning_rate : bias.learning_rate;
           const T l2 = i < in ? weight.l2 : bias.l2;
           return updates(i) ? value - learning_rate * (sum + l2 * value) : sum;
         });
  }
  //! [update_at_once]

 private:
  /// The parameter, or its gradient.
  static T* written(const GradientTarget<T>& target) {
    return target.parameter != nullptr ? target.parameter : target.gradient;
  }
};
//! [update_epilogue]

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
