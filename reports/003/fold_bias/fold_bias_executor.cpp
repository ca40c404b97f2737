#include "reports/003/fold_bias/fold_bias_executor.hpp"

#include <vector>

#include "cuda/check.hpp"
#include "ladders/transpose/shift.hpp"
#include "network/rewriter.hpp"

namespace stagewise {

//! [fold_biases]
Program fold_biases(const Program& program) {
  Rewriter rewriter(program);
  for (std::size_t i = 0; i < rewriter.size(); ++i) {
    const auto* const add = rewriter.get<AddBias>(i);
    const auto product = add != nullptr ? rewriter.writer_of(add->x) : std::nullopt;
    const auto* const gemm = product ? rewriter.get<Gemm>(*product) : nullptr;
    if (gemm == nullptr) continue;
    const FoldedLinear folded = {.input = gemm->a, .weight = gemm->b, .bias = add->bias, .sum = add->y};
    if (rewriter.fuse({*product, i}, folded)) i = 0;

    // Backward pass: the product that computes the weight's gradient leads to the others.
    for (std::size_t k = 0; k < rewriter.size(); ++k) {
      const auto* const dweight = rewriter.get<Gemm>(k);
      if (dweight == nullptr || dweight->op_a == Transpose::no || dweight->a != folded.input) {
        continue;
      }
      const auto sums = rewriter.reader_of<ColumnSums>(dweight->b);
      if (!sums) continue;
      FoldedGradients gradients = {.input = folded.input,
                                   .weight = folded.weight,
                                   .bias = folded.bias,
                                   .dsum = dweight->b,
                                   .dinput = {},
                                   .dweight = dweight->c,
                                   .dbias = rewriter.get<ColumnSums>(*sums)->y};
      std::vector<std::size_t> members = {k, *sums};
      for (const std::size_t reader : rewriter.readers_of(folded.weight)) {
        const auto* const dinput = rewriter.get<Gemm>(reader);
        if (dinput == nullptr || dinput->a != gradients.dsum) continue;
        members.push_back(reader);
        gradients.dinput = dinput->c;
      }
      rewriter.fuse(members, gradients);
      break;
    }
  }
  return rewriter.finish();
}
//! [fold_biases]

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
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(elements) * sizeof(T), cudaMemcpyDeviceToDevice,
                             this->stream()));
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
