#include "03_shared_memory/fold_bias.hpp"

#include <algorithm>

#include "03_shared_memory/shift.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {
namespace {

template <typename T>
void make_room(Tensor<T>& tensor, Index elements) {
  if (tensor.elements() < elements) tensor = Tensor<T>({elements}, cuda::device_memory());
}

template <typename T>
void copy(cudaStream_t stream, const T* from, T* to, Index elements) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(elements) * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

const std::vector<std::string>& fold_bias_names() {
  static const std::vector<std::string> names = {"off", "in-place", "out-of-place"};
  return names;
}

FoldBias parse_fold_bias(const std::string& name) {
  const auto& names = fold_bias_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw UsageError("there is no way to fold a bias named '" + name + "'");
  }
  return static_cast<FoldBias>(found - names.begin());
}

template <typename T>
void FoldedLayer<T>::reserve(Index rows, Index in, Index out, bool with_gradients) {
  make_room(input_, rows * (1 + in));
  make_room(weight_, (1 + in) * out);
  if (with_gradients) {
    make_room(input_gradient_, rows * (1 + in));
    make_room(weight_gradient_, (1 + in) * out);
  }
  if (how_ == FoldBias::in_place) make_room(helper_, shift_helper_elements(rows, in));
}

//! [fold]
template <typename T>
void FoldedLayer<T>::fold(cudaStream_t stream, const LinearProblem<T>& layer) {
  reserve(layer.rows, layer.in, layer.out, false);
  if (how_ == FoldBias::in_place) {
    copy(stream, layer.input, input_.data(), layer.rows * layer.in);
    shift_right(stream, layer.rows, layer.in, input_.data(), helper_.data());
  } else {
    insert_ones(stream, layer.rows, layer.in, layer.input, input_.data());
  }
  copy(stream, layer.bias, weight_.data(), layer.out);  // row by row, so a row is a piece
  copy(stream, layer.weight, weight_.data() + layer.out, layer.in * layer.out);
}
//! [fold]

template <typename T>
void FoldedLayer<T>::unfold_input_gradient(cudaStream_t stream, const LinearProblem<T>& layer,
                                           T* dinput) {
  if (how_ == FoldBias::in_place) {
    shift_left(stream, layer.rows, layer.in, input_gradient_.data(), helper_.data());
    copy(stream, input_gradient_.data(), dinput, layer.rows * layer.in);
  } else {
    remove_column(stream, layer.rows, layer.in, input_gradient_.data(), dinput);
  }
}

template <typename T>
void FoldedLayer<T>::unfold_weight_gradient(cudaStream_t stream, const LinearProblem<T>& layer,
                                            T* dweight, T* dbias) {
  if (dbias != nullptr) copy(stream, weight_gradient_.data(), dbias, layer.out);
  if (dweight != nullptr) {
    copy(stream, weight_gradient_.data() + layer.out, dweight, layer.in * layer.out);
  }
}

template class FoldedLayer<float>;
template class FoldedLayer<double>;

}  // namespace stagewise::shared_memory
