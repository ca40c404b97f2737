#include <cuda_runtime.h>
#if 0
#include <cub/cub.cuh>
#endif
#include <cublas_v2.h>

int main() { cublasHandle_t handle; cublasCreate(&handle); }
