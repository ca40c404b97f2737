// Launching costs time, and for small kernels more than the kernel. A graph is recorded once, and
// then launched as one: while a stream is being captured, what is put into it is noted and does not
// run.

#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

template <typename T>
__global__ void halve_kernel(int n, T* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] /= 2;
}

template <typename T>
__global__ void increase_kernel(int n, T* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

template <typename T>
std::vector<T> captured_graph(std::vector<T> x, int steps) {
  const int n = static_cast<int>(x.size());
  const int threads = 128;
  const int blocks = blocks_for(n, threads);
  DeviceVector<T> values(x);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t step = nullptr;

  //! [captured graph]
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  halve_kernel<<<blocks, threads, 0, stream>>>(n, values.data());
  increase_kernel<<<blocks, threads, 0, stream>>>(n, values.data());
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&step, graph, 0));

  for (int i = 0; i < steps; ++i) check(cudaGraphLaunch(step, stream));
  check(cudaStreamSynchronize(stream));  // or the copy could come too early
  const std::vector<T> result = values.to_host();
  //! [captured graph]

  check(cudaGraphExecDestroy(step));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
  return result;
}

template std::vector<float> captured_graph(std::vector<float>, int);
template std::vector<double> captured_graph(std::vector<double>, int);

}  // namespace teaching
