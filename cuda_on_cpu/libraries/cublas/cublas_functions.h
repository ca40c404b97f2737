/// @file
/// The names of cuBLAS's functions for float (S) and double (D). Each does what its BLAS namesake does.
#pragma once

inline cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result,
                                   CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::extreme<float>({"cublasIsamax()", handle, place}, n, x, incx, result, false);
}
inline cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result,
                                   CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::extreme<double>({"cublasIdamax()", handle, place}, n, x, incx, result, false);
}
inline cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result,
                                   CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::extreme<float>({"cublasIsamin()", handle, place}, n, x, incx, result, true);
}
inline cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result,
                                   CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::extreme<double>({"cublasIdamin()", handle, place}, n, x, incx, result, true);
}
inline cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float* x, int incx, float* result,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::asum<float>({"cublasSasum()", handle, place}, n, x, incx, result);
}
inline cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double* x, int incx, double* result,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::asum<double>({"cublasDasum()", handle, place}, n, x, incx, result);
}
inline cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float* x, int incx, float* result,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::nrm2<float>({"cublasSnrm2()", handle, place}, n, x, incx, result);
}
inline cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double* x, int incx, double* result,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::nrm2<double>({"cublasDnrm2()", handle, place}, n, x, incx, result);
}
inline cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                                 float* result, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::dot<float>({"cublasSdot()", handle, place}, n, x, incx, y, incy, result);
}
inline cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy,
                                 double* result, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::dot<double>({"cublasDdot()", handle, place}, n, x, incx, y, incy, result);
}
inline cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                                  int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::axpy<float>({"cublasSaxpy()", handle, place}, n, alpha, x, incx, y, incy);
}
inline cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx,
                                  double* y, int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::axpy<double>({"cublasDaxpy()", handle, place}, n, alpha, x, incx, y, incy);
}
inline cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::scal<float>({"cublasSscal()", handle, place}, n, alpha, x, incx);
}
inline cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double* alpha, double* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::scal<double>({"cublasDscal()", handle, place}, n, alpha, x, incx);
}
inline cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::copy<float>({"cublasScopy()", handle, place}, n, x, incx, y, incy);
}
inline cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::copy<double>({"cublasDcopy()", handle, place}, n, x, incx, y, incy);
}
inline cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::swap<float>({"cublasSswap()", handle, place}, n, x, incx, y, incy);
}
inline cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::swap<double>({"cublasDswap()", handle, place}, n, x, incx, y, incy);
}
inline cublasStatus_t cublasSrot(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy, const float* c,
                                 const float* s, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::rot<float>({"cublasSrot()", handle, place}, n, x, incx, y, incy, c, s);
}
inline cublasStatus_t cublasDrot(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy,
                                 const double* c, const double* s, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::rot<double>({"cublasDrot()", handle, place}, n, x, incx, y, incy, c, s);
}
inline cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                                  const float* a, int lda, const float* x, int incx, const float* beta, float* y,
                                  int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemv<float>({"cublasSgemv()", handle, place}, trans, m, n, alpha, a, lda, x, incx, beta, y,
                                        incy);
}
inline cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha,
                                  const double* a, int lda, const double* x, int incx, const double* beta, double* y,
                                  int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemv<double>({"cublasDgemv()", handle, place}, trans, m, n, alpha, a, lda, x, incx, beta, y,
                                         incy);
}
inline cublasStatus_t cublasSsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float* alpha,
                                  const float* a, int lda, const float* x, int incx, const float* beta, float* y,
                                  int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::symv<float>({"cublasSsymv()", handle, place}, uplo, n, alpha, a, lda, x, incx, beta, y,
                                        incy);
}
inline cublasStatus_t cublasDsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double* alpha,
                                  const double* a, int lda, const double* x, int incx, const double* beta, double* y,
                                  int incy, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::symv<double>({"cublasDsymv()", handle, place}, uplo, n, alpha, a, lda, x, incx, beta, y,
                                         incy);
}
inline cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float* alpha, const float* x, int incx,
                                 const float* y, int incy, float* a, int lda, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::ger<float>({"cublasSger()", handle, place}, m, n, alpha, x, incx, y, incy, a, lda);
}
inline cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double* alpha, const double* x, int incx,
                                 const double* y, int incy, double* a, int lda, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::ger<double>({"cublasDger()", handle, place}, m, n, alpha, x, incx, y, incy, a, lda);
}
inline cublasStatus_t cublasSsyr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float* alpha,
                                 const float* x, int incx, float* a, int lda, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::syr<float>({"cublasSsyr()", handle, place}, uplo, n, alpha, x, incx, a, lda);
}
inline cublasStatus_t cublasDsyr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double* alpha,
                                 const double* x, int incx, double* a, int lda, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::syr<double>({"cublasDsyr()", handle, place}, uplo, n, alpha, x, incx, a, lda);
}
inline cublasStatus_t cublasStrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                                  cublasDiagType_t diag, int n, const float* a, int lda, float* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trmv<float>({"cublasStrmv()", handle, place}, uplo, trans, diag, n, a, lda, x, incx, false);
}
inline cublasStatus_t cublasDtrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                                  cublasDiagType_t diag, int n, const double* a, int lda, double* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trmv<double>({"cublasDtrmv()", handle, place}, uplo, trans, diag, n, a, lda, x, incx,
                                         false);
}
inline cublasStatus_t cublasStrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                                  cublasDiagType_t diag, int n, const float* a, int lda, float* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trmv<float>({"cublasStrsv()", handle, place}, uplo, trans, diag, n, a, lda, x, incx, true);
}
inline cublasStatus_t cublasDtrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                                  cublasDiagType_t diag, int n, const double* a, int lda, double* x, int incx,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trmv<double>({"cublasDtrsv()", handle, place}, uplo, trans, diag, n, a, lda, x, incx, true);
}
inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                                  const float* beta, float* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm<float>({"cublasSgemm()", handle, place}, {transa, transb, m, n, k, lda, ldb, ldc},
                                        alpha, a, b, beta, c);
}
inline cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const double* alpha, const double* a, int lda, const double* b, int ldb,
                                  const double* beta, double* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm<double>({"cublasDgemm()", handle, place}, {transa, transb, m, n, k, lda, ldb, ldc},
                                         alpha, a, b, beta, c);
}
inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                                cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                                const float* a, int lda, long long stride_a, const float* b, int ldb,
                                                long long stride_b, const float* beta, float* c, int ldc,
                                                long long stride_c, int count, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm_strided<float>({"cublasSgemmStridedBatched()", handle, place},
                                                {transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, stride_a, b,
                                                stride_b, beta, c, stride_c, count);
}
inline cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                                cublasOperation_t transb, int m, int n, int k, const double* alpha,
                                                const double* a, int lda, long long stride_a, const double* b, int ldb,
                                                long long stride_b, const double* beta, double* c, int ldc,
                                                long long stride_c, int count, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm_strided<double>({"cublasDgemmStridedBatched()", handle, place},
                                                 {transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, stride_a, b,
                                                 stride_b, beta, c, stride_c, count);
}
inline cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* const* a, int lda,
                                         const float* const* b, int ldb, const float* beta, float* const* c, int ldc,
                                         int count, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm_batched<float>({"cublasSgemmBatched()", handle, place},
                                                {transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta, c, count);
}
inline cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const double* alpha, const double* const* a, int lda,
                                         const double* const* b, int ldb, const double* beta, double* const* c, int ldc,
                                         int count, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::gemm_batched<double>({"cublasDgemmBatched()", handle, place},
                                                 {transa, transb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta, c, count);
}
inline cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, const float* alpha, const float* a, int lda, const float* beta, const float* b,
                                  int ldb, float* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::geam<float>({"cublasSgeam()", handle, place}, transa, transb, m, n, alpha, a, lda, beta, b,
                                        ldb, c, ldc);
}
inline cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, const double* alpha, const double* a, int lda, const double* beta,
                                  const double* b, int ldb, double* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::geam<double>({"cublasDgeam()", handle, place}, transa, transb, m, n, alpha, a, lda, beta, b,
                                         ldb, c, ldc);
}
inline cublasStatus_t cublasSsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                                  const float* alpha, const float* a, int lda, const float* b, int ldb,
                                  const float* beta, float* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::symm<float>({"cublasSsymm()", handle, place}, side, uplo, m, n, alpha, a, lda, b, ldb, beta,
                                        c, ldc);
}
inline cublasStatus_t cublasDsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                                  const double* alpha, const double* a, int lda, const double* b, int ldb,
                                  const double* beta, double* c, int ldc, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::symm<double>({"cublasDsymm()", handle, place}, side, uplo, m, n, alpha, a, lda, b, ldb,
                                         beta, c, ldc);
}
inline cublasStatus_t cublasSsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                                  const float* alpha, const float* a, int lda, const float* beta, float* c, int ldc,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::syrk<float>({"cublasSsyrk()", handle, place}, uplo, trans, n, k, alpha, a, lda, beta, c,
                                        ldc);
}
inline cublasStatus_t cublasDsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                                  const double* alpha, const double* a, int lda, const double* beta, double* c, int ldc,
                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::syrk<double>({"cublasDsyrk()", handle, place}, uplo, trans, n, k, alpha, a, lda, beta, c,
                                         ldc);
}
inline cublasStatus_t cublasStrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                                  cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const float* alpha,
                                  const float* a, int lda, float* b, int ldb, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trsm<float>({"cublasStrsm()", handle, place}, side, uplo, trans, diag, m, n, alpha, a, lda,
                                        b, ldb);
}
inline cublasStatus_t cublasDtrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                                  cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const double* alpha,
                                  const double* a, int lda, double* b, int ldb, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::blas::trsm<double>({"cublasDtrsm()", handle, place}, side, uplo, trans, diag, m, n, alpha, a, lda,
                                         b, ldb);
}

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
