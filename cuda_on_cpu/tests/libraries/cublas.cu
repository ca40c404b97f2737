// cuBLAS, levels 1 to 3, with results that floating-point numbers hold exactly: the same output on
// a GPU (nvcc -lcublas).
#include <cmath>
#include <cstdio>
#include <vector>

#include <cublas_v2.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cublasStatus_t status = call;                                                 \
    if (status != CUBLAS_STATUS_SUCCESS) printf("%s: status %d\n", #call, (int)status); \
  } while (0)

template <class T>
struct Device {
  explicit Device(const std::vector<T>& values) : n(values.size()) {
    cudaMalloc(&data, n * sizeof(T));
    cublasSetVector((int)n, sizeof(T), values.data(), 1, data, 1);
  }
  ~Device() { cudaFree(data); }
  void print(const char* name) const {
    std::vector<T> host(n);
    cublasGetVector((int)n, sizeof(T), data, 1, host.data(), 1);
    printf("%s:", name);
    for (const T x : host) printf(" %g", (double)x);
    printf("\n");
  }
  std::size_t n;
  T* data;
};

__global__ void twice(float* x) {
  x[threadIdx.x] *= 2;
}

int main() {
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  Device<float> x({1, -2, 3, -4, 5, 0}), y({6, 5, 4, 3, 2, 1});
  Device<double> p({3, 4, 12}), q({1, 1, 2});
  const float two = 2, three = 3;
  const double one = 1, minus = -1, zero = 0;
  int place = 0;
  float sum = 0;
  double norm = 0;
  twice<<<1, 6>>>(x.data);
  CHECK(cublasIsamax(handle, 6, x.data, 1, &place));
  CHECK(cublasSasum(handle, 3, x.data, 2, &sum));
  printf("the largest is number %d, every other sums to %g\n", place, sum);
  CHECK(cublasIdamin(handle, 3, p.data, 1, &place));
  CHECK(cublasDnrm2(handle, 3, p.data, 1, &norm));
  printf("the least is number %d, norm %g\n", place, norm);
  CHECK(cublasSdot(handle, 6, x.data, 1, y.data, 1, &sum));
  printf("dot %g\n", sum);
  CHECK(cublasSaxpy(handle, 6, &two, x.data, 1, y.data, 1));
  y.print("axpy");
  CHECK(cublasSswap(handle, 3, x.data, 1, y.data, 2));
  CHECK(cublasSscal(handle, 2, &three, x.data, 1));
  x.print("x");
  y.print("y");
  CHECK(cublasDcopy(handle, 3, p.data, 1, q.data, 1));
  CHECK(cublasDrot(handle, 1, p.data, 1, q.data + 1, 1, &zero, &one));
  p.print("p");
  q.print("q");

  // By columns: A is 2 x 3, B 3 x 2.
  Device<float> a({1, 4, 2, 5, 3, 6}), b({1, 0, 2, -1, 3, 1}), c({0, 0, 0, 0});
  const float one_f = 1, zero_f = 0;
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one_f, a.data, 2, b.data, 3,
                    &zero_f, c.data, 2));
  c.print("A B");
  CHECK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, 2, 2, 2, &two, a.data, 2, b.data, 3, &one_f,
                    c.data, 2));
  c.print("2 A' B' + C");
  Device<float> v({1, 1, 1}), w({100, 100});
  CHECK(cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &one_f, a.data, 2, v.data, 1, &two, w.data, 1));
  w.print("A v + 2 w");
  CHECK(cublasSger(handle, 2, 2, &one_f, w.data, 1, v.data, 1, c.data, 2));
  c.print("rank 1");
  Device<double> s({2, 1, 99, 4}), r({10, 9}), t({1, 2, 3, 4}), m({0, 0, 0, 0});
  CHECK(
      cublasDsymv(handle, CUBLAS_FILL_MODE_LOWER, 2, &one, s.data, 2, r.data, 1, &zero, q.data, 1));
  q.print("symmetric");
  CHECK(cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, s.data, 2,
                    r.data, 1));
  r.print("solved");
  CHECK(cublasDsymm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, 2, 2, &one, s.data, 2,
                    t.data, 2, &zero, m.data, 2));
  m.print("T S");
  Device<double> k({0, 0, 0, 0}), l({2, 1, 0, 4});
  CHECK(cublasDsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 2, 2, &one, t.data, 2, &zero,
                    k.data, 2));
  k.print("T T'");
  CHECK(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                    CUBLAS_DIAG_NON_UNIT, 2, 2, &one, l.data, 2, t.data, 2));
  t.print("triangular");
  CHECK(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, l.data, 2, &minus, t.data, 2,
                    k.data, 2));
  k.print("L' - T");

  // Several products, in a stream, and a result that stays on the device.
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  CHECK(cublasSetStream(handle, stream));
  Device<float> many({1, 2, 3, 4, 5, 6, 7, 8}), products(std::vector<float>(8)), result({0});
  CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one_f, many.data, 2,
                                  4, many.data, 2, 4, &zero_f, products.data, 2, 4, 2));
  cudaStreamSynchronize(stream);
  products.print("M M'");
  float** pointers;
  cudaMallocManaged(&pointers, 4 * sizeof *pointers);
  Device<float> scalars({0, 0});
  pointers[2] = scalars.data;
  pointers[3] = scalars.data + 1;
  pointers[0] = products.data + 4;
  pointers[1] = products.data;
  CHECK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &one_f, pointers, 1, pointers,
                           2, &zero_f, pointers + 2, 1, 2));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasSdot(handle, 4, many.data, 1, many.data + 4, 1, result.data));
  CHECK(cublasSscal(handle, 8, result.data, many.data, 1));
  cudaStreamSynchronize(stream);
  scalars.print("batched");
  result.print("dot");
  many.print("scaled");
  printf("%d %s\n",
         (int)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one_f, a.data, 1, b.data, 3,
                          &zero_f, c.data, 2),
         cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE));
  cudaFree(pointers);
  CHECK(cublasDestroy(handle));
  cudaStreamDestroy(stream);
}
