#include "reports/003/fold_bias/fold_bias_executor.hpp"

namespace stagewise {

template <typename T>
void FoldBiasExecutor<T>::prepare(const Program& program) {
  SharedMemoryExecutor<T>::prepare(program);
  const auto reserve = [&](ValueId id, bool with_gradients) {
    const Shape& weight = this->value(id).shape;
    folded_.reserve(this->max_rows(), weight[0], weight[1], with_gradients);
  };
  for (const Line& line : program.lines) {
    if (const auto* const op = std::get_if<FoldedLinear>(&line.operation)) {
      reserve(op->weight, false);
    } else if (const auto* const gradients = std::get_if<FoldedGradients>(&line.operation)) {
      reserve(gradients->weight, true);
    }
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

//! [folded]
template <typename T>
void FoldBiasExecutor<T>::run(const FoldedLinear& op) {
  const LinearProblem<T> layer = this->layer(op.input, op.weight, op.bias);
  folded_.fold(this->stream(), layer);
  this->multiply({.m = layer.rows,
                  .n = layer.out,
                  .k = 1 + layer.in,
                  .a = folded_.input(),
                  .b = folded_.weight(),
                  .c = this->at(op.sum)});
}

template <typename T>
void FoldBiasExecutor<T>::run(const FoldedGradients& op) {
  const LinearProblem<T> layer = this->layer(op.input, op.weight, op.bias);
  folded_.fold(this->stream(), layer);  // by now, it holds those of another layer
  if (op.dinput) {
    this->multiply({.op_b = Transpose::yes,
                    .m = layer.rows,
                    .n = 1 + layer.in,
                    .k = layer.out,
                    .a = this->at(op.dsum),
                    .b = folded_.weight(),
                    .c = folded_.input_gradient()});
    folded_.unfold_input_gradient(this->stream(), layer, this->at(op.dinput));
  }
  this->multiply({.op_a = Transpose::yes,
                  .m = 1 + layer.in,
                  .n = layer.out,
                  .k = layer.rows,
                  .a = folded_.input(),
                  .b = this->at(op.dsum),
                  .c = folded_.weight_gradient()});
  folded_.unfold_weight_gradient(this->stream(), layer, this->at(op.dweight), this->at(op.dbias));
}
//! [folded]

template class FoldBiasExecutor<float>;
template class FoldBiasExecutor<double>;

}  // namespace stagewise
