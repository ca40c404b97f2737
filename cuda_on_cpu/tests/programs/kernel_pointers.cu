// Which kernel runs is decided while the program runs: tables, pointers, lambdas, branches without braces.
#include <cstdio>
#include <functional>

namespace {

__global__ void add(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 3; }
__global__ void multiply(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
template <int By> __global__ void subtract(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] -= By; }

using Kernel = void (*)(int*, int);
struct Step { const char* name; Kernel kernel; };
const Step steps[] = {{"add", add}, {"multiply", multiply}, {"subtract", subtract<1>}};

class Machine {
 public:
  Machine(int* x, int n) : x_(x), n_(n) {}
  void run(int step) { kernel_ = steps[step].kernel; kernel_<<<1, n_>>>(x_, n_); }
  void again() { this->kernel_<<<dim3(1), dim3(n_), 0, cudaStreamPerThread>>>(x_, n_); }

 private:
  Kernel kernel_ = nullptr;
  int* x_;
  int n_;
};

extern "C" __global__ void set(int* x) { x[threadIdx.x] = threadIdx.x; }

}  // namespace

int main() {
  const int n = 8;
  int* x = nullptr;
  cudaMallocManaged(&x, n * sizeof(int));
  set<<<1, n>>>(x);
  for (const Step& step : steps) step.kernel<<<1, n>>>(x, n);  // 2x + 5
  bool odd = true;
  if (odd) add<<<1, n>>>(x, n);
  else multiply<<<1, n>>>(x, n);
  odd ? multiply<<<1, n>>>(x, n) : add<<<1, n>>>(x, n);  // 4x + 16
  const auto launch = [=](Kernel kernel, int threads) { kernel<<<1, threads>>>(x, n); };
  launch(subtract<16>, n);  // 4x
  const std::function<void()> later = [&] { (*steps[0].kernel)<<<1, n>>>(x, n); };
  later();  // 4x + 3
  cudaStreamSynchronize(0);
  Machine machine(x, n);
  machine.run(1);
  cudaDeviceSynchronize();
  machine.again();  // 16x + 12
  do subtract<12><<<1, n, 0, cudaStreamPerThread>>>(x, n); while (false);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) std::printf("%d ", x[i]);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
}
