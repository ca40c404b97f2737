/// @file
/// cuBLAS, in single and double precision, by OpenBLAS: what a program includes as <cublas_v2.h>. Matrices are stored
/// by columns. Work is done in the handle's stream; results and scalars are the host's or the device's, by the pointer
/// mode.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include <cblas.h>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_on_cpu/libraries.h>
#include <cuda_runtime.h>
#include <library_types.h>

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};
using cublasHandle_t = cublasContext*;

namespace cuda_on_cpu::blas {

inline CBLAS_TRANSPOSE to_blas(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}
inline CBLAS_UPLO to_blas(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower; }
inline CBLAS_DIAG to_blas(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit; }
inline CBLAS_SIDE to_blas(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight; }

/// The function for float or that for double.
template <class T, class Single, class Double>
auto choose(Single single, Double dual) {
  if constexpr (std::is_same_v<T, float>) {
    return single;
  } else {
    return dual;
  }
}

/// From a vector's first element to its last, and likewise of a matrix of so many columns.
template <class T>
std::size_t vector_bytes(int n, int stride) {
  return n <= 0 ? 0 : (static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(std::abs(stride)) + 1) * sizeof(T);
}
template <class T>
std::size_t matrix_bytes(int rows, int columns, int leading) {
  if (rows <= 0 || columns <= 0) return 0;
  return (static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(rows)) *
         sizeof(T);
}
template <class T>
LibraryMemory in(const char* name, const T* x, int n, int stride) {
  return {name, x, vector_bytes<T>(n, stride)};
}
template <class T>
LibraryMemory out(const char* name, const T* x, int n, int stride) {
  return {name, x, vector_bytes<T>(n, stride), true};
}
template <class T>
LibraryMemory in(const char* name, const T* a, int rows, int columns, int leading) {
  return {name, a, matrix_bytes<T>(rows, columns, leading)};
}
template <class T>
LibraryMemory out(const char* name, const T* a, int rows, int columns, int leading) {
  return {name, a, matrix_bytes<T>(rows, columns, leading), true};
}

/// One call of a program.
class Call {
 public:
  Call(const char* name, cublasHandle_t handle, Place place) : name_(name), handle_(handle), place_(place) {}

  bool is_valid() const { return handle_ != nullptr; }
  bool has_host_scalars() const { return handle_->mode == CUBLAS_POINTER_MODE_HOST; }

  /// Does the work in the stream.
  template <class Work>
  cublasStatus_t run(std::initializer_list<LibraryMemory> memory, Work work) const {
    if (!is_valid()) return CUBLAS_STATUS_NOT_INITIALIZED;
    const cudaError_t error = run_library(name_, handle_->stream, memory, work, place_);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  }

  /// A scalar, now if it is the host's, else when the work is done.
  template <class T>
  auto scalar(const T* value) const {
    const bool is_now = is_valid() && has_host_scalars() && value != nullptr;
    return [value, is_now, now = is_now ? *value : T{}] { return is_now ? now : *value; };
  }

  /// Work that has a result; the host waits for one of its own.
  template <class T, class Work>
  cublasStatus_t run_for(T* result, std::initializer_list<LibraryMemory> memory, Work work) const {
    if (!is_valid()) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!has_host_scalars()) {
      const cublasStatus_t status = run({{"the result", result, sizeof(T), true}}, [] {});
      return status == CUBLAS_STATUS_SUCCESS ? run(memory, [=] { *result = work(); }) : status;
    }
    const cublasStatus_t status = run(memory, [=] { *result = work(); });
    return status == CUBLAS_STATUS_SUCCESS && cudaStreamSynchronize(handle_->stream) != cudaSuccess
               ? CUBLAS_STATUS_EXECUTION_FAILED
               : status;
  }

 private:
  const char* name_;
  cublasHandle_t handle_;
  Place place_;
};

// ------------------------------------------------------------------------- vectors (level 1)

template <class T>
cublasStatus_t extreme(const Call& call, int n, const T* x, int stride, int* result, bool is_least) {
  return call.run_for(result, {in("x", x, n, stride)}, [=] {
    int found = 0;
    for (int i = 1; i < n; ++i) {
      const T a = std::abs(x[std::ptrdiff_t{i} * stride]);
      const T b = std::abs(x[std::ptrdiff_t{found} * stride]);
      if (is_least ? a < b : a > b) found = i;
    }
    return n > 0 ? found + 1 : 0;
  });
}
template <class T>
cublasStatus_t asum(const Call& call, int n, const T* x, int stride, T* result) {
  return call.run_for(result, {in("x", x, n, stride)},
                      [=] { return choose<T>(cblas_sasum, cblas_dasum)(n, x, stride); });
}
template <class T>
cublasStatus_t nrm2(const Call& call, int n, const T* x, int stride, T* result) {
  return call.run_for(result, {in("x", x, n, stride)},
                      [=] { return choose<T>(cblas_snrm2, cblas_dnrm2)(n, x, stride); });
}
template <class T>
cublasStatus_t dot(const Call& call, int n, const T* x, int x_stride, const T* y, int y_stride, T* result) {
  return call.run_for(result, {in("x", x, n, x_stride), in("y", y, n, y_stride)},
                      [=] { return choose<T>(cblas_sdot, cblas_ddot)(n, x, x_stride, y, y_stride); });
}
template <class T>
cublasStatus_t axpy(const Call& call, int n, const T* alpha, const T* x, int x_stride, T* y, int y_stride) {
  return call.run({in("x", x, n, x_stride), out("y", y, n, y_stride)}, [=, a = call.scalar(alpha)] {
    choose<T>(cblas_saxpy, cblas_daxpy)(n, a(), x, x_stride, y, y_stride);
  });
}
template <class T>
cublasStatus_t scal(const Call& call, int n, const T* alpha, T* x, int stride) {
  return call.run({out("x", x, n, stride)},
                  [=, a = call.scalar(alpha)] { choose<T>(cblas_sscal, cblas_dscal)(n, a(), x, stride); });
}
template <class T>
cublasStatus_t copy(const Call& call, int n, const T* x, int x_stride, T* y, int y_stride) {
  return call.run({in("x", x, n, x_stride), out("y", y, n, y_stride)},
                  [=] { choose<T>(cblas_scopy, cblas_dcopy)(n, x, x_stride, y, y_stride); });
}
template <class T>
cublasStatus_t swap(const Call& call, int n, T* x, int x_stride, T* y, int y_stride) {
  return call.run({out("x", x, n, x_stride), out("y", y, n, y_stride)},
                  [=] { choose<T>(cblas_sswap, cblas_dswap)(n, x, x_stride, y, y_stride); });
}
template <class T>
cublasStatus_t rot(const Call& call, int n, T* x, int x_stride, T* y, int y_stride, const T* c, const T* s) {
  return call.run({out("x", x, n, x_stride), out("y", y, n, y_stride)},
                  [=, cosine = call.scalar(c), sine = call.scalar(s)] {
                    choose<T>(cblas_srot, cblas_drot)(n, x, x_stride, y, y_stride, cosine(), sine());
                  });
}

// ---------------------------------------------------------- matrices and vectors (level 2)

template <class T>
cublasStatus_t gemv(const Call& call, cublasOperation_t operation, int m, int n, const T* alpha, const T* a, int lda,
                    const T* x, int x_stride, const T* beta, T* y, int y_stride) {
  if (m < 0 || n < 0 || lda < std::max(1, m) || x_stride == 0 || y_stride == 0) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_plain = operation == CUBLAS_OP_N;
  return call.run(
      {in("A", a, m, n, lda), in("x", x, is_plain ? n : m, x_stride), out("y", y, is_plain ? m : n, y_stride)},
      [=, first = call.scalar(alpha), second = call.scalar(beta)] {
        choose<T>(cblas_sgemv, cblas_dgemv)(CblasColMajor, to_blas(operation), m, n, first(), a, lda, x, x_stride,
                                            second(), y, y_stride);
      });
}
template <class T>
cublasStatus_t symv(const Call& call, cublasFillMode_t part, int n, const T* alpha, const T* a, int lda, const T* x,
                    int x_stride, const T* beta, T* y, int y_stride) {
  return call.run({in("A", a, n, n, lda), in("x", x, n, x_stride), out("y", y, n, y_stride)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    choose<T>(cblas_ssymv, cblas_dsymv)(CblasColMajor, to_blas(part), n, first(), a, lda, x, x_stride,
                                                        second(), y, y_stride);
                  });
}
template <class T>
cublasStatus_t ger(const Call& call, int m, int n, const T* alpha, const T* x, int x_stride, const T* y, int y_stride,
                   T* a, int lda) {
  return call.run({in("x", x, m, x_stride), in("y", y, n, y_stride), out("A", a, m, n, lda)},
                  [=, first = call.scalar(alpha)] {
                    choose<T>(cblas_sger, cblas_dger)(CblasColMajor, m, n, first(), x, x_stride, y, y_stride, a, lda);
                  });
}
template <class T>
cublasStatus_t syr(const Call& call, cublasFillMode_t part, int n, const T* alpha, const T* x, int stride, T* a,
                   int lda) {
  return call.run({in("x", x, n, stride), out("A", a, n, n, lda)}, [=, first = call.scalar(alpha)] {
    choose<T>(cblas_ssyr, cblas_dsyr)(CblasColMajor, to_blas(part), n, first(), x, stride, a, lda);
  });
}
template <class T>
cublasStatus_t trmv(const Call& call, cublasFillMode_t part, cublasOperation_t operation, cublasDiagType_t diagonal,
                    int n, const T* a, int lda, T* x, int stride, bool solves) {
  return call.run({in("A", a, n, n, lda), out("x", x, n, stride)}, [=] {
    (solves ? choose<T>(cblas_strsv, cblas_dtrsv) : choose<T>(cblas_strmv, cblas_dtrmv))(
        CblasColMajor, to_blas(part), to_blas(operation), to_blas(diagonal), n, a, lda, x, stride);
  });
}

// --------------------------------------------------------------------- matrices (level 3)

/// The shape of C = A B and how A and B are stored.
struct Product {
  cublasOperation_t a_operation, b_operation;
  int m, n, k, lda, ldb, ldc;

  bool is_valid() const {
    return m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, a_operation == CUBLAS_OP_N ? m : k) &&
           ldb >= std::max(1, b_operation == CUBLAS_OP_N ? k : n) && ldc >= std::max(1, m);
  }
  template <class T>
  LibraryMemory a_in(const T* a) const {
    return a_operation == CUBLAS_OP_N ? in("A", a, m, k, lda) : in("A", a, k, m, lda);
  }
  template <class T>
  LibraryMemory b_in(const T* b) const {
    return b_operation == CUBLAS_OP_N ? in("B", b, k, n, ldb) : in("B", b, n, k, ldb);
  }
  template <class T>
  void compute(T alpha, const T* a, const T* b, T beta, T* c) const {
    choose<T>(cblas_sgemm, cblas_dgemm)(CblasColMajor, to_blas(a_operation), to_blas(b_operation), m, n, k, alpha, a,
                                        lda, b, ldb, beta, c, ldc);
  }
};
template <class T>
cublasStatus_t gemm(const Call& call, const Product& shape, const T* alpha, const T* a, const T* b, const T* beta,
                    T* c) {
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  return call.run(
      {shape.a_in(a), shape.b_in(b), out("C", c, shape.m, shape.n, shape.ldc)},
      [=, first = call.scalar(alpha), second = call.scalar(beta)] { shape.compute(first(), a, b, second(), c); });
}
template <class T>
cublasStatus_t gemm_strided(const Call& call, const Product& shape, const T* alpha, const T* a, long long a_step,
                            const T* b, long long b_step, const T* beta, T* c, long long c_step, int count) {
  if (!shape.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto all = [count](LibraryMemory one, long long step) {
    one.bytes = count == 0 ? 0 : one.bytes + static_cast<std::size_t>((count - 1) * step) * sizeof(T);
    return one;
  };
  return call.run(
      {all(shape.a_in(a), a_step), all(shape.b_in(b), b_step), all(out("C", c, shape.m, shape.n, shape.ldc), c_step)},
      [=, first = call.scalar(alpha), second = call.scalar(beta)] {
        for (int i = 0; i < count; ++i)
          shape.compute(first(), a + i * a_step, b + i * b_step, second(), c + i * c_step);
      });
}
template <class T>
cublasStatus_t gemm_batched(const Call& call, const Product& shape, const T* alpha, const T* const* a,
                            const T* const* b, const T* beta, T* const* c, int count) {
  if (!shape.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  return call.run({in("Aarray", a, count, 1), in("Barray", b, count, 1), in("Carray", c, count, 1)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    for (int i = 0; i < count; ++i) shape.compute(first(), a[i], b[i], second(), c[i]);
                  });
}
template <class T>
cublasStatus_t geam(const Call& call, cublasOperation_t a_operation, cublasOperation_t b_operation, int m, int n,
                    const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
  const auto side = [=](const char* name, cublasOperation_t operation, const T* x, int leading) {
    if (x == nullptr) return LibraryMemory{name, x, 0};
    return operation == CUBLAS_OP_N ? in(name, x, m, n, leading) : in(name, x, n, m, leading);
  };
  return call.run({side("A", a_operation, a, lda), side("B", b_operation, b, ldb), out("C", c, m, n, ldc)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    const auto at = [](const T* x, cublasOperation_t operation, int leading, int i, int j) {
                      return operation == CUBLAS_OP_N ? x[i + std::ptrdiff_t{j} * leading]
                                                      : x[j + std::ptrdiff_t{i} * leading];
                    };
                    for (int j = 0; j < n; ++j) {
                      for (int i = 0; i < m; ++i) {
                        T sum = 0;
                        if (first() != 0) sum += first() * at(a, a_operation, lda, i, j);
                        if (second() != 0) sum += second() * at(b, b_operation, ldb, i, j);
                        c[i + std::ptrdiff_t{j} * ldc] = sum;
                      }
                    }
                  });
}
template <class T>
cublasStatus_t symm(const Call& call, cublasSideMode_t side, cublasFillMode_t part, int m, int n, const T* alpha,
                    const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return call.run({in("A", a, order, order, lda), in("B", b, m, n, ldb), out("C", c, m, n, ldc)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    choose<T>(cblas_ssymm, cblas_dsymm)(CblasColMajor, to_blas(side), to_blas(part), m, n, first(), a,
                                                        lda, b, ldb, second(), c, ldc);
                  });
}
template <class T>
cublasStatus_t syrk(const Call& call, cublasFillMode_t part, cublasOperation_t operation, int n, int k, const T* alpha,
                    const T* a, int lda, const T* beta, T* c, int ldc) {
  return call.run({operation == CUBLAS_OP_N ? in("A", a, n, k, lda) : in("A", a, k, n, lda), out("C", c, n, n, ldc)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    choose<T>(cblas_ssyrk, cblas_dsyrk)(CblasColMajor, to_blas(part), to_blas(operation), n, k, first(),
                                                        a, lda, second(), c, ldc);
                  });
}
template <class T>
cublasStatus_t trsm(const Call& call, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t operation,
                    cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return call.run({in("A", a, order, order, lda), out("B", b, m, n, ldb)}, [=, first = call.scalar(alpha)] {
    choose<T>(cblas_strsm, cblas_dtrsm)(CblasColMajor, to_blas(side), to_blas(part), to_blas(operation),
                                        to_blas(diagonal), m, n, first(), a, lda, b, ldb);
  });
}

}  // namespace cuda_on_cpu::blas

// ------------------------------------------------------------------- handles, errors and copies

inline const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}
inline const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaDeviceSynchronize();
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t /*handle*/, int* version) {
  *version = 120400;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t /*handle*/, cublasAtomicsMode_t /*mode*/) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t /*handle*/, void* /*workspace*/, std::size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb,
                                           cudaStream_t stream, CUDA_ON_CPU_HERE) {
  if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = [size](int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(size); };
  const cudaError_t error = cudaMemcpy2DAsync(b, bytes(ldb), a, bytes(lda), bytes(rows),
                                              static_cast<std::size_t>(columns), cudaMemcpyDefault, stream, place);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb,
                                      CUDA_ON_CPU_HERE) {
  const cublasStatus_t status = cublasSetMatrixAsync(rows, columns, size, a, lda, b, ldb, nullptr, place);
  return status == CUBLAS_STATUS_SUCCESS && cudaStreamSynchronize(nullptr) != cudaSuccess ? CUBLAS_STATUS_MAPPING_ERROR
                                                                                          : status;
}
inline cublasStatus_t cublasSetVector(int n, int size, const void* x, int x_stride, void* y, int y_stride,
                                      CUDA_ON_CPU_HERE) {
  return cublasSetMatrix(1, n, size, x, x_stride, y, y_stride, place);
}
inline cublasStatus_t cublasSetVectorAsync(int n, int size, const void* x, int x_stride, void* y, int y_stride,
                                           cudaStream_t stream, CUDA_ON_CPU_HERE) {
  return cublasSetMatrixAsync(1, n, size, x, x_stride, y, y_stride, stream, place);
}
#define cublasGetMatrix cublasSetMatrix
#define cublasGetMatrixAsync cublasSetMatrixAsync
#define cublasGetVector cublasSetVector
#define cublasGetVectorAsync cublasSetVectorAsync

// What NVIDIA's header calls them, too.
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm

#include "cublas_functions.h"
