#include "cuda/handles.hpp"

#include "cuda/check.hpp"
#include "cuda/device.hpp"

namespace stagewise::cuda {

Stream::Stream() {
  require_device();  // its message is more helpful than the runtime's
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  handle_.reset(stream);
}

void Stream::synchronize() const { CUDA_CHECK(cudaStreamSynchronize(get())); }

bool Stream::is_done() const {
  const cudaError_t status = cudaStreamQuery(get());
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // not an error; the next check must not find it
    return false;
  }
  check(status, "cudaStreamQuery", __FILE__, __LINE__);
  return true;
}

Event::Event(unsigned flags) {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
  handle_.reset(event);
}

void Event::record(const Stream& stream) const { CUDA_CHECK(cudaEventRecord(get(), stream.get())); }

void Event::make_wait(const Stream& stream) const { CUDA_CHECK(cudaStreamWaitEvent(stream.get(), get(), 0)); }

void Event::synchronize() const { CUDA_CHECK(cudaEventSynchronize(get())); }

double TimedEvent::seconds_since(const TimedEvent& earlier) const {
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, earlier.get(), get()));
  return 1e-3 * static_cast<double>(milliseconds);
}

void ExecutableGraph::begin(const Stream& stream) {
  CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
}

void ExecutableGraph::discard(const Stream& stream) noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream.get(), &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();  // what failed has been thrown; the next check must not find it
}

void ExecutableGraph::end(const Stream& stream) {
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate", __FILE__, __LINE__);
  handle_.reset(executable);
}

void ExecutableGraph::launch(const Stream& stream) const { CUDA_CHECK(cudaGraphLaunch(handle_.get(), stream.get())); }

}  // namespace stagewise::cuda
