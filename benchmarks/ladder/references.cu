/// @file
/// cuBLAS and CUB, for comparison. Compiled only by nvcc.

#include <cub/device/device_reduce.cuh>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "ladder/references.hpp"
#include "tensor/error.hpp"
#include "tensor/tensor.hpp"

#ifdef STAGEWISE_CUBLAS
#include <cublas_v2.h>
#endif

namespace stagewise::ladder {

#ifdef STAGEWISE_CUBLAS
namespace {

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLAS could not ") + what + ": " + cublasGetStatusString(status));
}

cublasStatus_t call(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const float* alpha, const float* a, int a_stride, const float* b,
                    int b_stride, const float* beta, float* c, int c_stride) {
  return cublasSgemm(handle, op_a, op_b, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                     c_stride);
}

cublasStatus_t call(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const double* alpha, const double* a, int a_stride,
                    const double* b, int b_stride, const double* beta, double* c, int c_stride) {
  return cublasDgemm(handle, op_a, op_b, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                     c_stride);
}

}  // namespace

struct ReferenceGemm::State {
  // cuBLAS would allocate its own workspace while the stream is being captured.
  Tensor<std::byte> workspace{{static_cast<Index>(workspace_bytes)}, cuda::device_memory()};
  cublasHandle_t handle = nullptr;

  State() { check_cublas(cublasCreate(&handle), "be started"); }
  ~State() { cublasDestroy(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

ReferenceGemm::ReferenceGemm() : state_(std::make_unique<State>()) {}

ReferenceGemm::~ReferenceGemm() = default;

template <typename T>
void ReferenceGemm::run(cudaStream_t stream, const GemmProblem<T>& p) {
  cublasHandle_t const handle = state_->handle;
  check_cublas(cublasSetStream(handle, stream), "take a stream");
  check_cublas(cublasSetWorkspace(handle, state_->workspace.data(),
                                  static_cast<std::size_t>(state_->workspace.elements())),
               "take a workspace");
  check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "set its arithmetic");
  // cuBLAS is column-major: it sees row-major C as C^T = op(B)^T op(A)^T.
  const auto operation = [](Transpose op) {
    return op == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const auto a_stride = static_cast<int>(p.op_a == Transpose::yes ? p.m : p.k);
  const auto b_stride = static_cast<int>(p.op_b == Transpose::yes ? p.k : p.n);
  const auto n = static_cast<int>(p.n);
  check_cublas(call(handle, operation(p.op_b), operation(p.op_a), n, static_cast<int>(p.m),
                    static_cast<int>(p.k), &p.alpha, p.b, b_stride, p.a, a_stride, &p.beta, p.c, n),
               "multiply");
}

template void ReferenceGemm::run(cudaStream_t, const GemmProblem<float>&);
template void ReferenceGemm::run(cudaStream_t, const GemmProblem<double>&);
#endif

template <typename T>
std::size_t reference_sum_bytes(Index n) {
  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, static_cast<const T*>(nullptr),
                                    static_cast<T*>(nullptr), n));
  return bytes;
}

template <typename T>
void reference_sum(cudaStream_t stream, Index n, const T* x, T* out, void* helper,
                   std::size_t helper_bytes) {
  CUDA_CHECK(cub::DeviceReduce::Sum(helper, helper_bytes, x, out, n, stream));
}

template std::size_t reference_sum_bytes<float>(Index);
template std::size_t reference_sum_bytes<double>(Index);
template void reference_sum(cudaStream_t, Index, const float*, float*, void*, std::size_t);
template void reference_sum(cudaStream_t, Index, const double*, double*, void*, std::size_t);

}  // namespace stagewise::ladder
