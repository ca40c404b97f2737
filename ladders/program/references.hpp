/// @file
/// NVIDIA's libraries for what the ladders compute: the reference speed. They exist in CUDA builds
/// only; CUDA on the CPU has none, and its builds omit references.cu.
#pragma once

#include <cstdint>
#include <memory>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::ladder {

/// Whether this build has reference_sum() and, of the rungs of the convolution, Texture and
/// fast_math::convolution().
#ifdef CUDA_ON_CPU
inline constexpr bool has_nvcc = false;
#else
inline constexpr bool has_nvcc = true;
#endif

/// Whether this build has ReferenceGemm.
#ifdef STAGEWISE_CUBLAS
inline constexpr bool has_cublas = true;
#else
inline constexpr bool has_cublas = false;
#endif

/// How cuBLAS multiplies floats: as they are, in TF32, or in bfloat16. TF32 is cut off from floats
/// by the unit itself; in bfloat16, it gets copies of the factors that were made before.
enum class Arithmetic : std::uint8_t { own, tf32, bf16 };

/// cuBLAS. Numbers in memory are those of the problem, but for copies in bfloat16.
class ReferenceGemm {
 public:
  /// Allocates the library's workspace.
  /// @throws Error if that fails.
  explicit ReferenceGemm(Arithmetic arithmetic = Arithmetic::own);
  ~ReferenceGemm();
  ReferenceGemm(const ReferenceGemm&) = delete;
  ReferenceGemm& operator=(const ReferenceGemm&) = delete;

  /// For bfloat16, to be called before run(), which then ignores later changes of A and B.
  /// @throws Error if the GPU has too little memory for the copies.
  void copy_factors(cudaStream_t stream, const GemmProblem<float>& problem);

  /// Enqueues C = alpha op(A) op(B) + beta C; all sizes at least 1 and below 2^31.
  template <typename T>
  void run(cudaStream_t stream, const GemmProblem<T>& problem);

  /// The GPU memory that one object takes, in bytes.
  static constexpr double workspace_bytes = 32 << 20;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The GPU memory that reference_sum() needs besides its operands, in bytes.
template <typename T>
std::size_t reference_sum_bytes(Index n);

/// Enqueues out[0] = the sum of n elements: CUB's DeviceReduce.
/// @param helper room for reference_sum_bytes() bytes.
template <typename T>
void reference_sum(cudaStream_t stream, Index n, const T* x, T* out, void* helper, std::size_t helper_bytes);

}  // namespace stagewise::ladder
