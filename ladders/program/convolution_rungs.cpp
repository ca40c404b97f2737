#include "ladders/program/convolution_rungs.hpp"

#include <array>
#include <type_traits>

#include "02_naive_cuda/kernels.hpp"
#include "04_minibatch/convolution/convolution.hpp"
#include "tensor/counts.hpp"

namespace stagewise::ladder {
namespace {

using shared_memory::ConvolutionVariant;

template <typename T>
constexpr bool is_float = std::is_same_v<T, float>;

template <typename T>
void compute_directly(cudaStream_t stream, const LayerProblem<T>& p, Workspace& /*workspace*/) {
  naive_cuda::convolution(stream, p.convolution, p.input, p.filter, p.sum);
}

template <typename T>
void compute_from_texture(cudaStream_t stream, const LayerProblem<T>& p, Workspace& /*workspace*/) {
  if constexpr (has_nvcc && is_float<T>) {
    p.texture->convolution(stream, p.convolution, p.filter, p.sum);
  }
}

template <typename T>
void compute_with_fast_math(cudaStream_t stream, const LayerProblem<T>& p, Workspace& /*workspace*/) {
  if constexpr (has_nvcc && is_float<T>) {
    fast_math::convolution(stream, p.convolution, p.input, p.filter, p.sum);
  }
}

template <typename T>
Support supports_fast_math(const LayerProblem<T>& /*layer*/) {
  if (!is_float<T>) return {"it takes floats: --use_fast_math does not affect doubles"};
  if (!has_nvcc) return {"--use_fast_math is an option of nvcc, and this build does not use nvcc"};
  return {};
}

template <typename T>
void compute_by_im2col(cudaStream_t stream, const LayerProblem<T>& p, Workspace& workspace) {
  ladder::convolution(stream, p.convolution, p.input, p.filter, p.sum, p.columns, workspace);
}

template <typename T>
void compute_implicitly(cudaStream_t stream, const LayerProblem<T>& p, Workspace& workspace) {
  shared_memory::convolution(stream, ConvolutionVariant::implicit, p.convolution, p.input, p.filter, p.sum, workspace);
}

/// As stage 03 does it: four kernels.
template <typename T>
void compute_separately(cudaStream_t stream, const LayerProblem<T>& p, Workspace& workspace) {
  const ConvolutionProblem& c = p.convolution;
  compute_implicitly(stream, p, workspace);
  naive_cuda::add_bias(stream, c.output_pixels(), c.out, p.sum, p.bias, p.sum);
  naive_cuda::activate(stream, Activation::relu, c.output_pixels() * c.out, p.sum, p.sum);
  naive_cuda::average_pool(stream,
                           {.batch = c.batch,
                            .height = c.output_height(),
                            .width = c.output_width(),
                            .channels = c.out,
                            .window = pooling_side},
                           p.sum, p.output);
}

template <typename T>
void compute_fused(cudaStream_t stream, const LayerProblem<T>& p, Workspace& workspace) {
  minibatch::convolution_relu_pool<T>(stream,
                                      {.convolution = p.convolution,
                                       .window = pooling_side,
                                       .input = p.input,
                                       .filter = p.filter,
                                       .bias = p.bias,
                                       .activated = nullptr,  // which only training needs
                                       .output = p.output},
                                      workspace);
}

template <typename T>
Support supports_pooling(const LayerProblem<T>& p) {
  const ConvolutionProblem& c = p.convolution;
  if (c.output_height() % pooling_side == 0 && c.output_width() % pooling_side == 0) return {};
  return {"windows of 2 x 2 do not cover an output of " + std::to_string(c.output_height()) + " x " +
          std::to_string(c.output_width())};
}

template <typename T>
Support supports_fused(const LayerProblem<T>& p) {
  if (Support support = supports_pooling(p); !support) return support;
  if (!minibatch::can_fuse_pooling(p.convolution, pooling_side)) {
    return {"it counts in ints, and the layer has more elements than an int can count"};
  }
  return {};
}

template <typename T>
constexpr auto convolution_rungs = std::to_array<Rung<LayerProblem<T>>>({
    {"direct", "stages/02_naive_cuda/convolution.cu", "stage 02: a thread an output", compute_directly<T>,
     supports_everything<LayerProblem<T>>},
    {"texture", "ladders/program/texture_convolution.cu", "the input through a texture", compute_from_texture<T>,
     supports_texture<T>},
    {"fast-math", "stages/02_naive_cuda/convolution.cu", "direct, with --use_fast_math", compute_with_fast_math<T>,
     supports_fast_math<T>},
    {"im2col", "ladders/convolution/1_im2col.cu", "a product with a matrix", compute_by_im2col<T>,
     supports_everything<LayerProblem<T>>},
    {"implicit", "stages/03_shared_memory/convolution.cu", "the matrix never written", compute_implicitly<T>,
     supports_everything<LayerProblem<T>>},
});

template <typename T>
constexpr auto layer_rungs = std::to_array<Rung<LayerProblem<T>>>({
    {"separate", "stages/02_naive_cuda/elementwise.cu", "implicit, and three more kernels", compute_separately<T>,
     supports_pooling<T>},
    {"fused", "stages/04_minibatch/convolution/convolution.cu", "stage 04: one kernel", compute_fused<T>,
     supports_fused<T>},
});

}  // namespace

template <typename T>
Support supports_texture(const LayerProblem<T>& layer) {
  if (!is_float<T>) return {"it takes floats: textures have no doubles"};
  if constexpr (has_nvcc) {
    const ConvolutionProblem& c = layer.convolution;
    const Index elements = c.batch * c.height * c.width * c.in;
    if (elements <= Texture::max_elements()) return {};
    return {"this GPU's textures have at most " + with_thousands(Texture::max_elements()) +
            " elements, and the input has " + with_thousands(elements)};
  }
  return {"CUDA on the CPU has no textures"};
}

template <typename T>
Ladder<LayerProblem<T>> convolution_ladder() {
  return convolution_rungs<T>;
}

template <typename T>
Ladder<LayerProblem<T>> layer_ladder() {
  return layer_rungs<T>;
}

template Support supports_texture(const LayerProblem<float>&);
template Support supports_texture(const LayerProblem<double>&);
template Ladder<LayerProblem<float>> convolution_ladder();
template Ladder<LayerProblem<double>> convolution_ladder();
template Ladder<LayerProblem<float>> layer_ladder();
template Ladder<LayerProblem<double>> layer_ladder();

}  // namespace stagewise::ladder
