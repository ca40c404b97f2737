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
#include <utility>

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

template <class T, bool is_least>
cublasStatus_t extreme(const Call& call, int n, const T* x, int stride, int* result) {
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
/// The sum of absolute values, or the Euclidean norm.
template <class T, bool is_norm>
cublasStatus_t size(const Call& call, int n, const T* x, int stride, T* result) {
  return call.run_for(result, {in("x", x, n, stride)}, [=] {
    return (is_norm ? choose<T>(cblas_snrm2, cblas_dnrm2) : choose<T>(cblas_sasum, cblas_dasum))(n, x, stride);
  });
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
/// Multiplies by a triangular matrix, or solves.
template <class T, bool solves>
cublasStatus_t trmv(const Call& call, cublasFillMode_t part, cublasOperation_t operation, cublasDiagType_t diagonal,
                    int n, const T* a, int lda, T* x, int stride) {
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
cublasStatus_t gemm(const Call& call, cublasOperation_t a_operation, cublasOperation_t b_operation, int m, int n, int k,
                    const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  const Product shape{a_operation, b_operation, m, n, k, lda, ldb, ldc};
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  return call.run(
      {shape.a_in(a), shape.b_in(b), out("C", c, m, n, ldc)},
      [=, first = call.scalar(alpha), second = call.scalar(beta)] { shape.compute(first(), a, b, second(), c); });
}
template <class T>
cublasStatus_t gemm_strided(const Call& call, cublasOperation_t a_operation, cublasOperation_t b_operation, int m,
                            int n, int k, const T* alpha, const T* a, int lda, long long a_step, const T* b, int ldb,
                            long long b_step, const T* beta, T* c, int ldc, long long c_step, int count) {
  const Product shape{a_operation, b_operation, m, n, k, lda, ldb, ldc};
  if (!shape.is_valid() || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto all = [count](LibraryMemory one, long long step) {
    one.bytes = count == 0 ? 0 : one.bytes + static_cast<std::size_t>((count - 1) * step) * sizeof(T);
    return one;
  };
  return call.run({all(shape.a_in(a), a_step), all(shape.b_in(b), b_step), all(out("C", c, m, n, ldc), c_step)},
                  [=, first = call.scalar(alpha), second = call.scalar(beta)] {
                    for (int i = 0; i < count; ++i)
                      shape.compute(first(), a + i * a_step, b + i * b_step, second(), c + i * c_step);
                  });
}
template <class T>
cublasStatus_t gemm_batched(const Call& call, cublasOperation_t a_operation, cublasOperation_t b_operation, int m,
                            int n, int k, const T* alpha, const T* const* a, int lda, const T* const* b, int ldb,
                            const T* beta, T* const* c, int ldc, int count) {
  const Product shape{a_operation, b_operation, m, n, k, lda, ldb, ldc};
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
                    const auto part = [](T factor, const T* x, cublasOperation_t operation, int leading, int i, int j) {
                      if (factor == 0) return T{0};
                      if (operation != CUBLAS_OP_N) std::swap(i, j);
                      return factor * x[i + std::ptrdiff_t{j} * leading];
                    };
                    for (int j = 0; j < n; ++j) {
                      for (int i = 0; i < m; ++i) {
                        c[i + std::ptrdiff_t{j} * ldc] =
                            part(first(), a, a_operation, lda, i, j) + part(second(), b, b_operation, ldb, i, j);
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

/// A function of cuBLAS, by its name: f for float (S) or double (D).
template <auto f>
struct Function;
template <class... Parameters, cublasStatus_t (*f)(const Call&, Parameters...)>
struct Function<f> {
  cublasStatus_t operator()(cublasHandle_t handle, Parameters... parameters, CUDA_ON_CPU_HERE) const {
    return f({name, handle, place}, parameters...);
  }

  const char* name;
};

}  // namespace cuda_on_cpu::blas

inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::extreme<float, false>> cublasIsamax{"cublasIsamax()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::extreme<double, false>> cublasIdamax{"cublasIdamax()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::extreme<float, true>> cublasIsamin{"cublasIsamin()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::extreme<double, true>> cublasIdamin{"cublasIdamin()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::size<float, false>> cublasSasum{"cublasSasum()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::size<double, false>> cublasDasum{"cublasDasum()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::size<float, true>> cublasSnrm2{"cublasSnrm2()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::size<double, true>> cublasDnrm2{"cublasDnrm2()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::dot<float>> cublasSdot{"cublasSdot()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::dot<double>> cublasDdot{"cublasDdot()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::axpy<float>> cublasSaxpy{"cublasSaxpy()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::axpy<double>> cublasDaxpy{"cublasDaxpy()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::scal<float>> cublasSscal{"cublasSscal()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::scal<double>> cublasDscal{"cublasDscal()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::copy<float>> cublasScopy{"cublasScopy()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::copy<double>> cublasDcopy{"cublasDcopy()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::swap<float>> cublasSswap{"cublasSswap()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::swap<double>> cublasDswap{"cublasDswap()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::rot<float>> cublasSrot{"cublasSrot()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::rot<double>> cublasDrot{"cublasDrot()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemv<float>> cublasSgemv{"cublasSgemv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemv<double>> cublasDgemv{"cublasDgemv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::symv<float>> cublasSsymv{"cublasSsymv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::symv<double>> cublasDsymv{"cublasDsymv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::ger<float>> cublasSger{"cublasSger()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::ger<double>> cublasDger{"cublasDger()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::syr<float>> cublasSsyr{"cublasSsyr()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::syr<double>> cublasDsyr{"cublasDsyr()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trmv<float, false>> cublasStrmv{"cublasStrmv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trmv<double, false>> cublasDtrmv{"cublasDtrmv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trmv<float, true>> cublasStrsv{"cublasStrsv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trmv<double, true>> cublasDtrsv{"cublasDtrsv()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm<float>> cublasSgemm{"cublasSgemm()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm<double>> cublasDgemm{"cublasDgemm()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm_strided<float>> cublasSgemmStridedBatched{
    "cublasSgemmStridedBatched()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm_strided<double>> cublasDgemmStridedBatched{
    "cublasDgemmStridedBatched()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm_batched<float>> cublasSgemmBatched{
    "cublasSgemmBatched()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::gemm_batched<double>> cublasDgemmBatched{
    "cublasDgemmBatched()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::geam<float>> cublasSgeam{"cublasSgeam()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::geam<double>> cublasDgeam{"cublasDgeam()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::symm<float>> cublasSsymm{"cublasSsymm()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::symm<double>> cublasDsymm{"cublasDsymm()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::syrk<float>> cublasSsyrk{"cublasSsyrk()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::syrk<double>> cublasDsyrk{"cublasDsyrk()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trsm<float>> cublasStrsm{"cublasStrsm()"};
inline constexpr cuda_on_cpu::blas::Function<cuda_on_cpu::blas::trsm<double>> cublasDtrsm{"cublasDtrsm()"};

/// For A, B and C of one type, float or double.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                                   const void* b, cudaDataType b_type, int ldb, const void* beta, void* c,
                                   cudaDataType c_type, int ldc, cublasComputeType_t /*compute*/,
                                   cublasGemmAlgo_t /*algorithm*/, CUDA_ON_CPU_HERE) {
  if (a_type != b_type || a_type != c_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (a_type == CUDA_R_32F)
    return cublasSgemm(handle, transa, transb, m, n, k, static_cast<const float*>(alpha), static_cast<const float*>(a),
                       lda, static_cast<const float*>(b), ldb, static_cast<const float*>(beta), static_cast<float*>(c),
                       ldc, place);
  if (a_type == CUDA_R_64F)
    return cublasDgemm(handle, transa, transb, m, n, k, static_cast<const double*>(alpha),
                       static_cast<const double*>(a), lda, static_cast<const double*>(b), ldb,
                       static_cast<const double*>(beta), static_cast<double*>(c), ldc, place);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
/// The same in float.
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                    int n, int k, const float* alpha, const void* a, cudaDataType a_type, int lda,
                                    const void* b, cudaDataType b_type, int ldb, const float* beta, void* c,
                                    cudaDataType c_type, int ldc, CUDA_ON_CPU_HERE) {
  if (a_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, place);
}

// ------------------------------------------------------------------- handles, errors and copies

inline const char* cublasGetStatusName(cublasStatus_t status) {
  for (const auto& [known, name] : {std::pair{CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS"},
                                    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED"},
                                    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED"},
                                    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE"},
                                    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH"},
                                    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR"},
                                    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED"},
                                    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR"},
                                    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"},
                                    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR"}}) {
    if (known == status) return name;
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
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math = math;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* math) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *math = handle->math;
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
