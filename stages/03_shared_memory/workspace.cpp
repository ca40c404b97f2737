#include "03_shared_memory/workspace.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::shared_memory {

Workspace::Workspace()
    : partials_({bytes}, cuda::device_memory()), counters_({counter_count}, cuda::device_memory()) {
  CUDA_CHECK(cudaMemset(counters_.data(), 0, counter_count * sizeof(unsigned)));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
}

}  // namespace stagewise::shared_memory
