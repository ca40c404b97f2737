/// @file
/// The gradient of a layer's input; see linear.cu.

#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"

namespace stagewise::minibatch {

//! [through_activation]
/// The sum, taken through the activation that made `y`, the layer's input.
template <typename T>
struct ThroughActivation : shared_memory::StoredRows<T> {
  static constexpr int read_ahead = 16;

  const T* y;
  Activation activation;

  explicit ThroughActivation(const LinearBackwardProblem<T>& p)
      : shared_memory::StoredRows<T>(p.dinput, p.forward.in, p.forward.input),
        y(p.forward.input),
        activation(p.input_activation) {}

  /// See tiles/finish.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    with_function(activation, [&]<Activation chosen>() {
      const auto finish = [&](int /*row*/, T sum, T of_y) {
        return Function<chosen>::back(of_y, sum);
      };
      if constexpr (chosen == Activation::none) {
        work(shared_memory::NoSource(), finish);
      } else {
        work([&](int i) { return y + static_cast<Index>(i) * this->n; }, finish);
      }
    });
  }
};
//! [through_activation]

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

template void input_gradient(cudaStream_t, const LinearBackwardProblem<float>&, Workspace&);
template void input_gradient(cudaStream_t, const LinearBackwardProblem<double>&, Workspace&);

}  // namespace stagewise::minibatch
