/// @file
/// Convolution by a product of this stage, and the rule that picks a variant. The way back is in
/// convolution/backward.cu.
///
/// All three products (convolution/products.cuh) load windows, or what met a value of the input,
/// from where it is: see convolution/windows.cuh and convolution/taps.cuh.
///
/// Operations: 2 x pixels x out x window, forward and for each gradient.

#include "02_naive_cuda/kernels.hpp"
#include "03_shared_memory/convolution/products.cuh"
#include "03_shared_memory/kernels.hpp"

namespace stagewise::shared_memory {

bool fits_windows(const ConvolutionProblem& p) {
  return p.output_pixels() > 0 && p.out > 0 && p.window() > 0 &&
         fits_ints(p.output_pixels(), p.out, p.window()) &&
         p.output_pixels() * p.out < beyond_ints && p.window() * p.out < beyond_ints &&
         p.batch * p.height * p.width * p.in < beyond_ints;
}

//! [pick]
// A product needs rows: with fewer output pixels than a tile has, part of it stays empty, and the
// direct variant has less to set up. From 64 pixels on, report 001's second layer for a single
// image, the product has been measured to be ahead; below, nothing has been measured.
ConvolutionVariant pick_convolution(const ConvolutionProblem& p) {
  constexpr Index min_pixels = 64;
  return p.output_pixels() < min_pixels ? ConvolutionVariant::direct : ConvolutionVariant::implicit;
}
//! [pick]

bool is_direct(ConvolutionVariant variant, const ConvolutionProblem& p) {
  if (variant == ConvolutionVariant::automatic) variant = pick_convolution(p);
  return variant == ConvolutionVariant::direct || !fits_windows(p);
}

template <typename T>
void convolution(cudaStream_t stream, ConvolutionVariant variant, const ConvolutionProblem& p,
                 const T* input, const T* filter, T* output, Workspace& workspace) {
  if (is_direct(variant, p)) return naive_cuda::convolution(stream, p, input, filter, output);
  multiply_filter<ConvolutionTiles<T>>(stream, p, input, filter, output, workspace);
}

template void convolution(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&, const float*,
                          const float*, float*, Workspace&);
template void convolution(cudaStream_t, ConvolutionVariant, const ConvolutionProblem&,
                          const double*, const double*, double*, Workspace&);

}  // namespace stagewise::shared_memory
