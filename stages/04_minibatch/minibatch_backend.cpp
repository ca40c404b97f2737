#include "04_minibatch/minibatch_backend.hpp"

#include "04_minibatch/linear.hpp"
#include "cuda/range.hpp"

namespace stagewise {
namespace {

template <typename T>
bool is_fusible(const LinearProblem<T>& layer) {
  const bool is_empty = layer.rows == 0 || layer.in == 0 || layer.out == 0;
  return !is_empty && minibatch::fits_linear(layer.rows, layer.in, layer.out);
}

}  // namespace

template <typename T>
MinibatchBackend<T>::MinibatchBackend(bool fuses) : fuses_(fuses) {
  constexpr Index length = 16 / sizeof(T);
  one_ = this->template allocate<T>({length});
  const T values[length] = {1};
  this->copy_in(one_.data(), values, sizeof(values));
}

//! [fused]
template <typename T>
void MinibatchBackend<T>::linear(const LinearProblem<T>& layer) {
  if (!fuses_ || !is_fusible(layer)) return SharedMemoryBackend<T>::linear(layer);
  const cuda::Range range("linear (fused)");
  minibatch::linear(this->stream(), layer, this->workspace());
}

template <typename T>
void MinibatchBackend<T>::linear_backward(const LinearBackwardProblem<T>& layer) {
  if (!fuses_ || !is_fusible(layer.forward)) {
    return SharedMemoryBackend<T>::linear_backward(layer);
  }
  const cuda::Range range("linear_backward (fused)");
  this->activate_backward(layer);  // unless the layer above has done it
  minibatch::linear_backward(this->stream(), layer, one_.data(), this->workspace());
}

template <typename T>
void MinibatchBackend<T>::loss(const minibatch::LossProblem<T>& problem) {
  const cuda::Range range("loss (fused)");
  minibatch::loss(this->stream(), problem, this->workspace());
}
//! [fused]

template class MinibatchBackend<float>;
template class MinibatchBackend<double>;

}  // namespace stagewise
