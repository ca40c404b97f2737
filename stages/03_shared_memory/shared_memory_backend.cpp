#include "03_shared_memory/shared_memory_backend.hpp"

#include "03_shared_memory/loss.hpp"
#include "03_shared_memory/transpose.hpp"
#include "cuda/memory.hpp"
#include "cuda/range.hpp"

namespace stagewise {

using shared_memory::ConvolutionForm;
using shared_memory::FoldBias;

namespace {

/// Runs a rung that the user may have asked for.
template <typename Problem>
void run_reduction(const shared_memory::Rung<Problem>& rung, cudaStream_t stream,
                   const Problem& problem, shared_memory::Workspace& workspace) {
  if (const shared_memory::Support support = rung.supports(problem); !support) {
    throw Error("--reduce " + std::string(rung.name) + " cannot be used here: " + support.reason);
  }
  rung.run(stream, problem, workspace);
}

}  // namespace

template <typename T>
SharedMemoryBackend<T>::SharedMemoryBackend(const SharedMemoryOptions& options)
    : sum_(&find_rung(shared_memory::sum_ladder<T>(), options.reduce)),
      sum_rows_(&find_rung(shared_memory::sum_rows_ladder<T>(), options.reduce)),
      accumulate_(&find_rung(shared_memory::accumulate_ladder<T>(), options.reduce)),
      convolution_(options.convolution),
      fold_bias_(options.fold_bias),
      folded_(options.fold_bias) {
  if (options.gemm == "auto") return;
  gemm_ = &find_rung(shared_memory::gemm_ladder<T>(), options.gemm);
  // The implicit form is tied to the top of the ladder; what was asked for is used everywhere.
  if (convolution_ == ConvolutionForm::automatic) convolution_ = ConvolutionForm::unrolled;
  if (const shared_memory::Support support = gemm_->supports({}); !support) {
    throw Error("--gemm " + options.gemm + " cannot be used here: " + support.reason);
  }
}

//! [forwards]
template <typename T>
void SharedMemoryBackend<T>::gemm(const GemmProblem<T>& problem) {
  const cuda::Range range("gemm");
  shared_memory::gemm(this->stream(), problem, workspace_, gemm_);
}

template <typename T>
void SharedMemoryBackend<T>::sum_rows(Index rows, Index cols, const T* x, T* out) {
  const cuda::Range range("sum_rows");
  run_reduction(*sum_rows_, this->stream(), {rows, cols, x, out}, workspace_);
}
//! [forwards]

template <typename T>
void SharedMemoryBackend<T>::transpose(Index rows, Index cols, const T* x, T* y) {
  const cuda::Range range("transpose");
  shared_memory::transpose<T>(this->stream(), {rows, cols, x, y}, workspace_);
}

template <typename T>
void SharedMemoryBackend<T>::sum(Index n, const T* x, T* out) {
  const cuda::Range range("sum");
  run_reduction(*sum_, this->stream(), {n, x, out}, workspace_);
}

template <typename T>
void SharedMemoryBackend<T>::softmax_cross_entropy(Index rows, Index cols, const T* logits,
                                                   const std::int32_t* labels, T* probabilities,
                                                   T* row_losses) {
  const cuda::Range range("softmax_cross_entropy");
  shared_memory::softmax_cross_entropy(this->stream(), rows, cols, logits, labels, probabilities,
                                       row_losses);
}

template <typename T>
void SharedMemoryBackend<T>::squared_error(Index rows, Index cols, const T* outputs,
                                           const std::int32_t* labels, T* row_losses) {
  const cuda::Range range("squared_error");
  shared_memory::squared_error(this->stream(), rows, cols, outputs, labels, row_losses);
}

template <typename T>
void SharedMemoryBackend<T>::accumulate(Index rows, const T* row_losses,
                                        const std::int32_t* predictions, const std::int32_t* labels,
                                        std::int64_t step, Totals* totals) {
  const cuda::Range range("accumulate");
  run_reduction(*accumulate_, this->stream(), {rows, row_losses, predictions, labels, step, totals},
                workspace_);
}

template <typename T>
void SharedMemoryBackend<T>::prepare(const ConvolutionProblem& largest, bool with_gradients) {
  const bool unrolls = convolution_ == ConvolutionForm::unrolled ||
                       (with_gradients && convolution_ != ConvolutionForm::direct);
  if (unrolls) unrolled_images(largest);
}

/// Room for unrolled images: it is there since prepare(), and else is made now.
template <typename T>
shared_memory::UnrolledImages<T> SharedMemoryBackend<T>::unrolled_images(
    const ConvolutionProblem& problem) {
  if (convolution_ == ConvolutionForm::direct) return {};
  const Index images = shared_memory::images_at_a_time<T>(problem);
  const Index elements = images * shared_memory::unrolled_elements(problem);
  if (unrolled_.elements() < elements) unrolled_ = this->template allocate<T>({elements});
  return {unrolled_.data(), images};
}

template <typename T>
void SharedMemoryBackend<T>::convolution(const ConvolutionProblem& problem, const T* input,
                                         const T* filter, T* output) {
  const cuda::Range range("convolution");
  shared_memory::UnrolledImages<T> unrolled;
  if (convolution_ == ConvolutionForm::unrolled) unrolled = unrolled_images(problem);
  shared_memory::convolution(this->stream(), convolution_, problem, input, filter, output, unrolled,
                             workspace_, gemm_);
}

template <typename T>
void SharedMemoryBackend<T>::convolution_backward(const ConvolutionProblem& problem, const T* input,
                                                  const T* filter, const T* doutput, T* dinput,
                                                  T* dfilter) {
  const cuda::Range range("convolution_backward");
  shared_memory::convolution_backward(this->stream(), convolution_, problem, input, filter, doutput,
                                      dinput, dfilter, unrolled_images(problem), workspace_, gemm_);
}

template <typename T>
bool SharedMemoryBackend<T>::folds(const LinearProblem<T>& layer) const {
  return fold_bias_ != FoldBias::off && layer.bias != nullptr;
}

template <typename T>
void SharedMemoryBackend<T>::prepare(const LinearProblem<T>& largest, bool with_gradients) {
  if (folds(largest)) folded_.reserve(largest.rows, largest.in, largest.out, with_gradients);
}

//! [folded]
template <typename T>
void SharedMemoryBackend<T>::linear(const LinearProblem<T>& layer) {
  if (!folds(layer)) return Backend<T>::linear(layer);
  const cuda::Range range("linear (folded bias)");
  folded_.fold(this->stream(), layer);
  gemm({.m = layer.rows,
        .n = layer.out,
        .k = 1 + layer.in,
        .a = folded_.input(),
        .b = folded_.weight(),
        .c = layer.output});
  this->activate(layer);
}

template <typename T>
void SharedMemoryBackend<T>::linear_backward(const LinearBackwardProblem<T>& layer) {
  const LinearProblem<T>& forward = layer.forward;
  if (!folds(forward)) return Backend<T>::linear_backward(layer);
  const cuda::Range range("linear_backward (folded bias)");
  this->activate_backward(layer);
  folded_.reserve(forward.rows, forward.in, forward.out, true);
  folded_.fold(this->stream(), forward);  // another layer's are there by now
  if (layer.dinput != nullptr) {
    gemm({.op_b = Transpose::yes,
          .m = forward.rows,
          .n = 1 + forward.in,
          .k = forward.out,
          .a = layer.doutput,
          .b = folded_.weight(),
          .c = folded_.input_gradient()});
    folded_.unfold_input_gradient(this->stream(), forward, layer.dinput);
  }
  gemm({.op_a = Transpose::yes,
        .m = 1 + forward.in,
        .n = forward.out,
        .k = forward.rows,
        .a = folded_.input(),
        .b = layer.doutput,
        .c = folded_.weight_gradient()});
  folded_.unfold_weight_gradient(this->stream(), forward, layer.weight.gradient,
                                 layer.bias.gradient);
  this->deliver(forward.in * forward.out, layer.weight);
  this->deliver(forward.out, layer.bias);
}
//! [folded]

template class SharedMemoryBackend<float>;
template class SharedMemoryBackend<double>;

}  // namespace stagewise
