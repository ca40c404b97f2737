/// @file
/// Convolution by the GEMM of this stage, forward and backward, and the rule that picks a variant.
///
/// Forward and for the filter's gradient, the im2col matrix is either written out or loaded
/// through the window loader. The input's gradient is a product that gives a gradient for every
/// place of every window, which col2im adds up.

#include <algorithm>

#include "02_naive_cuda/convolution.hpp"
#include "03_shared_memory/convolution.hpp"
#include "03_shared_memory/convolution/2_implicit.cuh"
#include "03_shared_memory/convolution/im2col.hpp"
#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/gemm/stream_k.cuh"

namespace stagewise::shared_memory {
namespace {

/// Calls `work(part of the problem, inputs before it, outputs before it)` for `images` images at a
/// time.
template <typename Work>
void for_parts(const ConvolutionProblem& p, Index images, const Work& work) {
  images = std::max<Index>(images, 1);
  for (Index first = 0; first < p.batch; first += images) {
    ConvolutionProblem part = p;
    part.batch = std::min(images, p.batch - first);
    work(part, first * p.height * p.width * p.in,
         first * p.output_height() * p.output_width() * p.out);
  }
}

/// Whether the products forward and backward can be counted in ints.
bool is_countable(const ConvolutionProblem& p) {
  return fits_stream_k(p.output_pixels(), p.out, p.window()) &&
         fits_stream_k(p.window(), p.out, p.output_pixels());
}

/// So many images at a time that they can.
Index countable_images(ConvolutionProblem p) {
  while (p.batch > 1 && !is_countable(p)) p.batch = (p.batch + 1) / 2;
  return p.batch;
}

//! [implicit]
/// output = windows x filter, with the windows loaded from the input.
template <typename T>
void multiply_windows(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                      const T* filter, T* output, Workspace& workspace) {
  const auto k = static_cast<int>(p.window());
  const auto n = static_cast<int>(p.out);
  const AlphaBeta<T> epilogue(output, p.out, T{1}, T{0});
  const auto run = [&](const auto& windows, const auto& filters) {
    multiply_stream_k<T>(stream, p.output_pixels(), p.out, k, windows, filters, epilogue,
                         workspace);
  };
  if (is_aligned(input, p.in) && is_aligned(filter, p.out)) {
    run(WindowLoader<T, Vector<T>::length>(p, input), VectorLoader<T, false>{{filter, n, k}});
  } else {
    run(WindowLoader<T, 1>(p, input), ScalarLoader<T>{{filter, n, k}, false});
  }
}
//! [implicit]

/// dfilter = windows^T x doutput, added to what is there if `adds`.
template <typename T>
void multiply_transposed_windows(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                                 const T* doutput, T* dfilter, bool adds, Workspace& workspace) {
  const auto k = static_cast<int>(p.output_pixels());
  const auto n = static_cast<int>(p.out);
  const AlphaBeta<T> epilogue(dfilter, p.out, T{1}, adds ? T{1} : T{0});
  const auto run = [&](const auto& windows, const auto& gradients) {
    multiply_stream_k<T>(stream, p.window(), p.out, k, windows, gradients, epilogue, workspace);
  };
  if (is_aligned(input, p.in) && is_aligned(doutput, p.out)) {
    run(TransposedWindowLoader<T, Vector<T>::length>(p, input),
        VectorLoader<T, false>{{doutput, n, k}});
  } else {
    run(TransposedWindowLoader<T, 1>(p, input), ScalarLoader<T>{{doutput, n, k}, false});
  }
}

/// Whether there is nothing to compute; stage 02's kernels then do what is left.
bool is_empty(const ConvolutionProblem& p) {
  return p.output_pixels() == 0 || p.out == 0 || p.window() == 0;
}

/// What a variant comes to for this problem. One image that is too large to be counted goes through
/// the direct kernels, which need no memory.
ConvolutionVariant resolve(ConvolutionVariant variant, const ConvolutionProblem& p) {
  if (is_empty(p)) return ConvolutionVariant::direct;
  if (variant == ConvolutionVariant::automatic) variant = pick_convolution(p);
  ConvolutionProblem image = p;
  image.batch = 1;
  const bool counts_too_high = variant == ConvolutionVariant::implicit && !is_countable(image);
  return counts_too_high ? ConvolutionVariant::direct : variant;
}

}  // namespace

//! [pick]
// A product needs rows: with fewer output pixels than a tile has, part of it stays empty, and the
// direct variant has less to set up. From 64 pixels on, report 001's second layer for a single
// image, the product has been measured to be ahead; below, nothing has been measured.
ConvolutionVariant pick_convolution(const ConvolutionProblem& p) {
  constexpr Index min_pixels = 64;
  return p.output_pixels() < min_pixels ? ConvolutionVariant::direct : ConvolutionVariant::implicit;
}
//! [pick]

Index im2col_elements(const ConvolutionProblem& p) {
  return p.output_height() * p.output_width() * p.window();
}

template <typename T>
Index images_at_a_time(const ConvolutionProblem& p) {
  constexpr Index bytes = Index{64} << 20;
  const Index each = std::max<Index>(1, im2col_elements(p) * static_cast<Index>(sizeof(T)));
  return std::clamp<Index>(bytes / each, 1, std::max<Index>(p.batch, 1));
}

template <typename T>
void convolution(cudaStream_t stream, ConvolutionVariant variant, const ConvolutionProblem& p,
                 const T* input, const T* filter, T* output, const Im2colImages<T>& columns,
                 Workspace& workspace, const GemmRung<T>* rung) {
  switch (resolve(variant, p)) {
    case ConvolutionVariant::automatic:
    case ConvolutionVariant::direct:
      return naive_cuda::convolution(stream, p, input, filter, output);
    case ConvolutionVariant::im2col:
      //! [im2col]
      return for_parts(p, columns.images,
                       [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
                         im2col(stream, part, input + inputs, columns.data);
                         gemm<T>(stream,
                                 {.m = part.output_pixels(),
                                  .n = p.out,
                                  .k = p.window(),
                                  .a = columns.data,
                                  .b = filter,
                                  .c = output + outputs},
                                 workspace, rung);
                       });
      //! [im2col]
    case ConvolutionVariant::implicit:
      return for_parts(
          p, countable_images(p), [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
            multiply_windows(stream, part, input + inputs, filter, output + outputs, workspace);
          });
  }
}

template <typename T>
void convolution_backward(cudaStream_t stream, ConvolutionVariant variant,
                          const ConvolutionProblem& p, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter, const Im2colImages<T>& columns,
                          Workspace& workspace, const GemmRung<T>* rung) {
  const ConvolutionVariant resolved = resolve(variant, p);
  if (resolved == ConvolutionVariant::direct) {
    return naive_cuda::convolution_backward(stream, p, input, filter, doutput, dinput, dfilter);
  }
  if (resolved == ConvolutionVariant::implicit) {
    for_parts(p, countable_images(p),
              [&](const ConvolutionProblem& part, Index inputs, Index outputs) {
                multiply_transposed_windows(stream, part, input + inputs, doutput + outputs,
                                            dfilter, inputs > 0, workspace);
              });
  } else {
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
  }
  if (dinput == nullptr) return;
  //! [input_gradient]
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
  //! [input_gradient]
}

template Index images_at_a_time<float>(const ConvolutionProblem&);
template Index images_at_a_time<double>(const ConvolutionProblem&);
template void convolution(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&, const float*,
                          const float*, float*, const Im2colImages<float>&, Workspace&,
                          const GemmRung<float>*);
template void convolution(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                          const double*, const double*, double*, const Im2colImages<double>&,
                          Workspace&, const GemmRung<double>*);
template void convolution_backward(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                                   const float*, const float*, const float*, float*, float*,
                                   const Im2colImages<float>&, Workspace&, const GemmRung<float>*);
template void convolution_backward(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                                   const double*, const double*, const double*, double*, double*,
                                   const Im2colImages<double>&, Workspace&,
                                   const GemmRung<double>*);

}  // namespace stagewise::shared_memory
