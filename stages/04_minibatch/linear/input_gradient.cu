/// @file
/// The gradient of a layer's input; see linear.cu.

#include "04_minibatch/linear/epilogues.cuh"
#include "04_minibatch/linear/layer_tiles.cuh"
#include "04_minibatch/linear/linear.hpp"

namespace stagewise::minibatch {

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
