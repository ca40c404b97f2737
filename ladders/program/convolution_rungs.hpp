/// @file
/// The convolution ladders: the ways in which stages 02 to 04 compute a convolution, and what
/// follows it in a layer, beside two that no stage uses.
///
/// These two, `texture` and `fast-math`, need nvcc: CUDA on the CPU has no textures, and
/// --use_fast_math is an option of nvcc. Builds without it omit texture_convolution.cu.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/kernels.hpp"
#include "cuda/ladder.hpp"
#include "ladders/convolution/im2col.hpp"
#include "ladders/program/references.hpp"
#include "network/problems.hpp"

namespace stagewise::ladder {

/// An input in the GPU's memory that kernels fetch through a texture object.
class Texture {
 public:
  /// @param data [elements], which must live longer than this.
  /// @pre elements <= max_elements()
  Texture(const float* data, Index elements);
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  /// Enqueues stage 02's convolution, with the input from the texture.
  void convolution(cudaStream_t stream, const ConvolutionProblem& problem, const float* filter, float* output) const;

  /// How many elements the current GPU's textures have at most.
  static Index max_elements();

 private:
  unsigned long long object_ = 0;  ///< a cudaTextureObject_t, which builds without nvcc do not know
};

/// A layer of a network: a convolution, and for some rungs what follows it.
template <typename T>
struct LayerProblem {
  ConvolutionProblem convolution;
  const T* input = nullptr;
  const T* filter = nullptr;
  const T* bias = nullptr;           ///< [out]
  ladder::Im2colImages<T> columns;   ///< for im2col
  const Texture* texture = nullptr;  ///< of the input; null where there is none
  T* sum = nullptr;                  ///< the convolution's output
  T* output = nullptr;               ///< the pooled output, of rungs that compute it
};

/// Side of the pooling windows.
inline constexpr Index pooling_side = 2;

/// Whether the input can be a texture here.
template <typename T>
Support supports_texture(const LayerProblem<T>& layer);

/// The rungs that compute sum = convolution(input, filter).
template <typename T>
Ladder<LayerProblem<T>> convolution_ladder();

/// The rungs that compute output = average_pool(relu(convolution(input, filter) + bias)). They may
/// leave anything in `sum`.
template <typename T>
Ladder<LayerProblem<T>> layer_ladder();

}  // namespace stagewise::ladder

/// Stage 02's convolution, compiled once more with --use_fast_math (CMakeLists.txt).
namespace stagewise::fast_math {

/// As naive_cuda::convolution() does.
template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, const T* filter, T* output);

}  // namespace stagewise::fast_math
