#include "ladders/convolution/im2col.hpp"

#include <algorithm>

#include "02_naive_cuda/kernels.hpp"

namespace stagewise::ladder {
namespace {

using shared_memory::gemm;
using shared_memory::GemmRung;

/// Calls `work(part of the problem, inputs before it, outputs before it)` for `images` images at a
/// time.
template <typename Work>
void for_parts(const ConvolutionProblem& p, Index images, const Work& work) {
  images = std::max<Index>(images, 1);
  for (Index first = 0; first < p.batch; first += images) {
    ConvolutionProblem part = p;
    part.batch = std::min(images, p.batch - first);
    work(part, first * p.height * p.width * p.in, first * p.output_height() * p.output_width() * p.out);
  }
}

/// Whether there is nothing to multiply; stage 02's kernels then do what is left.
bool is_empty(const ConvolutionProblem& p) { return p.output_pixels() == 0 || p.out == 0 || p.window() == 0; }

}  // namespace

Index im2col_elements(const ConvolutionProblem& p) { return p.output_height() * p.output_width() * p.window(); }

template <typename T>
Index images_at_a_time(const ConvolutionProblem& p) {
  constexpr Index bytes = Index{64} << 20;
  const Index each = std::max<Index>(1, im2col_elements(p) * static_cast<Index>(sizeof(T)));
  return std::clamp<Index>(bytes / each, 1, std::max<Index>(p.batch, 1));
}

//! [im2col]
template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& p, const T* input, const T* filter, T* output,
                 const Im2colImages<T>& columns, Workspace& workspace, const GemmRung<T>* rung) {
  if (is_empty(p)) return naive_cuda::convolution(stream, p, input, filter, output);
  for_parts(p, columns.images, [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
    im2col(stream, part, input + inputs, columns.data);
    gemm<T>(
        stream,
        {.m = part.output_pixels(), .n = p.out, .k = p.window(), .a = columns.data, .b = filter, .c = output + outputs},
        workspace, rung);
  });
}
//! [im2col]

//! [gradients]
template <typename T>
void convolution_backward(cudaStream_t stream, const ConvolutionProblem& p, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, const Im2colImages<T>& columns, Workspace& workspace,
                          const GemmRung<T>* rung) {
  if (is_empty(p)) {
    return naive_cuda::convolution_backward(stream, p, input, filter, doutput, dinput, dfilter);
  }
  for_parts(p, columns.images, [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
    im2col(stream, part, input + inputs, columns.data);
    gemm<T>(stream,
            {.op_a = Transpose::yes,
             .m = p.window(),
             .n = p.out,
             .k = part.output_pixels(),
             .a = columns.data,
             .b = doutput + outputs,
             .beta = inputs > 0 ? T{1} : T{0},
             .c = dfilter},
            workspace, rung);
  });
  if (dinput == nullptr) return;
  for_parts(p, columns.images, [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
    gemm<T>(stream,
            {.op_b = Transpose::yes,
             .m = part.output_pixels(),
             .n = p.window(),
             .k = p.out,
             .a = doutput + outputs,
             .b = filter,
             .c = columns.data},
            workspace, rung);
    col2im(stream, part, columns.data, dinput + inputs);
  });
}
//! [gradients]

template Index images_at_a_time<float>(const ConvolutionProblem&);
template Index images_at_a_time<double>(const ConvolutionProblem&);
template void convolution(cudaStream_t, const ConvolutionProblem&, const float*, const float*, float*,
                          const Im2colImages<float>&, Workspace&, const GemmRung<float>*);
template void convolution(cudaStream_t, const ConvolutionProblem&, const double*, const double*, double*,
                          const Im2colImages<double>&, Workspace&, const GemmRung<double>*);
template void convolution_backward(cudaStream_t, const ConvolutionProblem&, const float*, const float*, const float*,
                                   float*, float*, const Im2colImages<float>&, Workspace&, const GemmRung<float>*);
template void convolution_backward(cudaStream_t, const ConvolutionProblem&, const double*, const double*, const double*,
                                   double*, double*, const Im2colImages<double>&, Workspace&, const GemmRung<double>*);

}  // namespace stagewise::ladder
