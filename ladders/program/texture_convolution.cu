/// @file
/// Stage 02's direct convolution with one change: the input is fetched through a texture object.
/// Compiled only by nvcc.
///
/// Report 001 left textures as something to try. They had a cache of their own when global memory
/// had none. Since then, both go through the same L1 cache, and stage 02's __restrict__ lets the
/// compiler load by the read-only path, the texture's. So little gain was expected; on an H200, it
/// takes from 0.55 to twice the time of stage 02's kernel, depending on the layer and the number of
/// images (benchmarks/results/h200_cnn.md). What a texture still has beside its cache,
/// interpolation and a rule for coordinates outside, a valid convolution does not need.
///
/// Operations and bytes are those of stage 02.
///
/// Run it: `ladder convolution --rung texture`.

#include "cuda/launch.cuh"
#include "ladders/program/convolution_rungs.hpp"

namespace stagewise::ladder {
namespace {

//! [texture]
__global__ void texture_convolution_kernel(ConvolutionProblem p, Index output_height, Index output_width,
                                           cudaTextureObject_t input, const float* __restrict__ filter,
                                           float* __restrict__ output) {
  Index rest = cuda::index_x();
  if (rest >= p.batch * output_height * output_width * p.out) return;
  float* const result = output + rest;
  const Index o = rest % p.out;
  rest /= p.out;
  const Index x = rest % output_width;
  rest /= output_width;
  const Index y = rest % output_height;
  const Index b = rest / output_height;

  float sum = 0;
  for (Index i = 0; i < p.filter_height; ++i) {
    for (Index j = 0; j < p.filter_width; ++j) {
      const auto values = static_cast<int>(((b * p.height + y + i) * p.width + x + j) * p.in);
      const float* const weights = filter + (i * p.filter_width + j) * p.in * p.out + o;
      for (int c = 0; c < p.in; ++c) {
        sum += tex1Dfetch<float>(input, values + c) * weights[c * p.out];
      }
    }
  }
  *result = sum;
}
//! [texture]

}  // namespace

Texture::Texture(const float* data, Index elements) {
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeLinear;
  // The description has no pointer to const; kernels only read.
  memory.res.linear.devPtr = const_cast<float*>(data);
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  memory.res.linear.sizeInBytes = static_cast<std::size_t>(elements) * sizeof(float);
  cudaTextureDesc access{};
  access.readMode = cudaReadModeElementType;
  CUDA_CHECK(cudaCreateTextureObject(&object_, &memory, &access, nullptr));
}

Texture::~Texture() { cudaDestroyTextureObject(object_); }

void Texture::convolution(cudaStream_t stream, const ConvolutionProblem& p, const float* filter, float* output) const {
  const Index n = p.output_pixels() * p.out;
  texture_convolution_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      p, p.output_height(), p.output_width(), object_, filter, output);
  CUDA_CHECK_LAUNCH("convolution (texture)");
}

Index Texture::max_elements() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  std::size_t elements = 0;
  CUDA_CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&elements, &format, device));
  return static_cast<Index>(elements);
}

}  // namespace stagewise::ladder
