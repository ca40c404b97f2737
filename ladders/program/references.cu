/// @file
/// cuBLAS and CUB, for comparison. Compiled only by nvcc.

#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "cuda/launch.cuh"
#include "cuda/memory.hpp"
#include "ladders/program/references.hpp"
#include "tensor/error.hpp"
#include "tensor/tensor.hpp"

#ifdef STAGEWISE_CUBLAS
#include <cublas_v2.h>
#include <cuda_bf16.h>
#endif

namespace stagewise::ladder {

#ifdef STAGEWISE_CUBLAS
namespace {

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLAS could not ") + what + ": " + cublasGetStatusString(status));
}

template <typename T>
constexpr cudaDataType_t type_of = CUDA_R_64F;
template <>
constexpr cudaDataType_t type_of<float> = CUDA_R_32F;

/// Its name for how it computes.
template <typename T>
cublasComputeType_t compute_type(Arithmetic arithmetic) {
  if (std::is_same_v<T, double>) return CUBLAS_COMPUTE_64F;
  return arithmetic == Arithmetic::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

__global__ void to_bf16(Index n, const float* from, __nv_bfloat16* to) {
  const Index i = cuda::index_x();
  if (i < n) to[i] = __float2bfloat16_rn(from[i]);
}

Tensor<__nv_bfloat16> copy_in_bf16(cudaStream_t stream, Index n, const float* from) {
  Tensor<__nv_bfloat16> copy({n}, cuda::device_memory());
  to_bf16<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(n, from, copy.data());
  CUDA_CHECK_LAUNCH("copy in bfloat16");
  return copy;
}

}  // namespace

struct ReferenceGemm::State {
  // cuBLAS would allocate its own workspace while the stream is being captured.
  Tensor<std::byte> workspace{{static_cast<Index>(workspace_bytes)}, cuda::device_memory()};
  cublasHandle_t handle = nullptr;
  Arithmetic arithmetic;
  Tensor<__nv_bfloat16> a;
  Tensor<__nv_bfloat16> b;

  explicit State(Arithmetic wanted) : arithmetic(wanted) { check_cublas(cublasCreate(&handle), "be started"); }
  ~State() { cublasDestroy(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

ReferenceGemm::ReferenceGemm(Arithmetic arithmetic) : state_(std::make_unique<State>(arithmetic)) {}

ReferenceGemm::~ReferenceGemm() = default;

void ReferenceGemm::copy_factors(cudaStream_t stream, const GemmProblem<float>& p) {
  if (state_->arithmetic != Arithmetic::bf16) return;
  state_->a = copy_in_bf16(stream, p.m * p.k, p.a);
  state_->b = copy_in_bf16(stream, p.k * p.n, p.b);
}

template <typename T>
void ReferenceGemm::run(cudaStream_t stream, const GemmProblem<T>& p) {
  cublasHandle_t const handle = state_->handle;
  check_cublas(cublasSetStream(handle, stream), "take a stream");
  check_cublas(
      cublasSetWorkspace(handle, state_->workspace.data(), static_cast<std::size_t>(state_->workspace.elements())),
      "take a workspace");
  check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "set its arithmetic");
  // cuBLAS is column-major: it sees row-major C as C^T = op(B)^T op(A)^T.
  const auto operation = [](Transpose op) { return op == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto a_stride = static_cast<int>(p.op_a == Transpose::yes ? p.m : p.k);
  const auto b_stride = static_cast<int>(p.op_b == Transpose::yes ? p.k : p.n);
  const auto n = static_cast<int>(p.n);
  const bool copies = state_->arithmetic == Arithmetic::bf16;
  const cudaDataType_t factors = copies ? CUDA_R_16BF : type_of<T>;
  const void* const a = copies ? static_cast<const void*>(state_->a.data()) : p.a;
  const void* const b = copies ? static_cast<const void*>(state_->b.data()) : p.b;
  check_cublas(cublasGemmEx(handle, operation(p.op_b), operation(p.op_a), n, static_cast<int>(p.m),
                            static_cast<int>(p.k), &p.alpha, b, factors, b_stride, a, factors, a_stride, &p.beta, p.c,
                            type_of<T>, n, compute_type<T>(state_->arithmetic), CUBLAS_GEMM_DEFAULT),
               "multiply");
}

template void ReferenceGemm::run(cudaStream_t, const GemmProblem<float>&);
template void ReferenceGemm::run(cudaStream_t, const GemmProblem<double>&);
#endif

template <typename T>
std::size_t reference_sum_bytes(Index n) {
  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, static_cast<const T*>(nullptr), static_cast<T*>(nullptr), n));
  return bytes;
}

template <typename T>
void reference_sum(cudaStream_t stream, Index n, const T* x, T* out, void* helper, std::size_t helper_bytes) {
  CUDA_CHECK(cub::DeviceReduce::Sum(helper, helper_bytes, x, out, n, stream));
}

template std::size_t reference_sum_bytes<float>(Index);
template std::size_t reference_sum_bytes<double>(Index);
template void reference_sum(cudaStream_t, Index, const float*, float*, void*, std::size_t);
template void reference_sum(cudaStream_t, Index, const double*, double*, void*, std::size_t);

}  // namespace stagewise::ladder
