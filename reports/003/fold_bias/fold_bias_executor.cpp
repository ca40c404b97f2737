#include "reports/003/fold_bias/fold_bias_executor.hpp"

#include "cuda/check.hpp"
#include "ladders/transpose/shift.hpp"

namespace stagewise {

template <typename T>
void FoldBiasExecutor<T>::prepare(const Program& program) {
  SharedMemoryExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    if (const auto* const op = std::get_if<FoldedLinear>(&line.operation)) {
      reserve(op->weight, false);
    } else if (const auto* const gradients = std::get_if<FoldedGradients>(&line.operation)) {
      reserve(gradients->weight, true);
    }
  }
}

template <typename T>
void FoldBiasExecutor<T>::reserve(ValueId weight, bool with_gradients) {
  const Index rows = this->max_rows();
  const Index in = this->value(weight).shape[0];
  const Index out = this->value(weight).shape[1];
  const auto make_room = [&](Tensor<T>& tensor, Index elements) {
    if (tensor.elements() < elements) tensor = Tensor<T>({elements}, this->memory());
  };
  make_room(input_, rows * (1 + in));
  make_room(weight_, (1 + in) * out);
  if (with_gradients) {
    make_room(input_gradient_, rows * (1 + in));
    make_room(weight_gradient_, (1 + in) * out);
  }
  if (how_ == FoldBias::in_place) {
    make_room(helper_, shared_memory::shift_helper_elements(rows, in));
  }
}

template <typename T>
LinearProblem<T> FoldBiasExecutor<T>::layer(ValueId input, ValueId weight, ValueId bias) {
  return {.rows = this->shard(input).rows,
          .in = this->value(weight).shape[0],
          .out = this->value(weight).shape[1],
          .input = this->template data<T>(input),
          .weight = this->template data<T>(weight),
          .bias = this->template data<T>(bias)};
}

template <typename T>
void FoldBiasExecutor<T>::copy(const T* from, T* to, Index elements) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(elements) * sizeof(T),
                             cudaMemcpyDeviceToDevice, this->stream()));
}

//! [fold]
template <typename T>
void FoldBiasExecutor<T>::fold(const LinearProblem<T>& layer) {
  if (how_ == FoldBias::in_place) {
    copy(layer.input, input_.data(), layer.rows * layer.in);
    shared_memory::shift_right(this->stream(), layer.rows, layer.in, input_.data(), helper_.data());
  } else {
    shared_memory::insert_ones(this->stream(), layer.rows, layer.in, layer.input, input_.data());
  }
  copy(layer.bias, weight_.data(), layer.out);  // row-major, so the first row is one piece
  copy(layer.weight, weight_.data() + layer.out, layer.in * layer.out);
}
//! [fold]

template <typename T>
void FoldBiasExecutor<T>::unfold_input_gradient(const LinearProblem<T>& layer, T* dinput) {
  T* const wide = input_gradient_.data();
  if (how_ == FoldBias::in_place) {
    shared_memory::shift_left(this->stream(), layer.rows, layer.in, wide, helper_.data());
    copy(wide, dinput, layer.rows * layer.in);
  } else {
    shared_memory::remove_column(this->stream(), layer.rows, layer.in, wide, dinput);
  }
}

//! [folded]
template <typename T>
void FoldBiasExecutor<T>::run(const FoldedLinear& op) {
  const LinearProblem<T> layer = this->layer(op.input, op.weight, op.bias);
  fold(layer);
  this->multiply({.m = layer.rows,
                  .n = layer.out,
                  .k = 1 + layer.in,
                  .a = input_.data(),
                  .b = weight_.data(),
                  .c = this->at(op.sum)});
}

template <typename T>
void FoldBiasExecutor<T>::run(const FoldedGradients& op) {
  const LinearProblem<T> layer = this->layer(op.input, op.weight, op.bias);
  fold(layer);  // by now, the matrices hold those of another layer
  if (op.dinput) {
    this->multiply({.op_b = Transpose::yes,
                    .m = layer.rows,
                    .n = 1 + layer.in,
                    .k = layer.out,
                    .a = this->at(op.dsum),
                    .b = weight_.data(),
                    .c = input_gradient_.data()});
    unfold_input_gradient(layer, this->at(op.dinput));
  }
  this->multiply({.op_a = Transpose::yes,
                  .m = 1 + layer.in,
                  .n = layer.out,
                  .k = layer.rows,
                  .a = input_.data(),
                  .b = this->at(op.dsum),
                  .c = weight_gradient_.data()});
  copy(weight_gradient_.data(), this->at(op.dbias), layer.out);
  copy(weight_gradient_.data() + layer.out, this->at(op.dweight), layer.in * layer.out);
}
//! [folded]

template class FoldBiasExecutor<float>;
template class FoldBiasExecutor<double>;

}  // namespace stagewise
