#include "reports/003/fold_bias/fold_bias.hpp"

#include <vector>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "ladders/transpose/shift.hpp"
#include "network/rewriter.hpp"

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

//! [fold_biases]
Program fold_biases(const Program& program) {
  Rewriter rewriter(program);
  for (std::size_t i = 0; i < rewriter.size(); ++i) {
    const auto* const add = rewriter.get<AddBias>(i);
    const auto product = add != nullptr ? rewriter.writer_of(add->x) : std::nullopt;
    const auto* const gemm = product ? rewriter.get<Gemm>(*product) : nullptr;
    if (gemm == nullptr) continue;
    const FoldedLinear folded = {
        .input = gemm->a, .weight = gemm->b, .bias = add->bias, .sum = add->y};
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
  if (how_ == FoldBias::in_place) {
    copy(stream, layer.input, input_.data(), layer.rows * layer.in);
    shift_right(stream, layer.rows, layer.in, input_.data(), helper_.data());
  } else {
    insert_ones(stream, layer.rows, layer.in, layer.input, input_.data());
  }
  copy(stream, layer.bias, weight_.data(), layer.out);  // row-major, so the first row is one piece
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
  copy(stream, weight_gradient_.data(), dbias, layer.out);
  copy(stream, weight_gradient_.data() + layer.out, dweight, layer.in * layer.out);
}

template class FoldedLayer<float>;
template class FoldedLayer<double>;

}  // namespace stagewise::shared_memory
