#include "cuda/workspace.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise {

Workspace::Workspace() : partials_({bytes}, cuda::device_memory()), counters_({counter_count}, cuda::device_memory()) {
  CUDA_CHECK(cudaMemset(counters_.data(), 0, counter_count * sizeof(unsigned)));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
}

// What was given out stays where it is: work that was recorded uses it again.
void* Workspace::room_for(Index wanted) {
  if (wanted <= bytes) return partials_.data();
  if (more_.empty() || more_.back().elements() < wanted) {
    more_.emplace_back(Shape{wanted}, cuda::device_memory());
  }
  return more_.back().data();
}

}  // namespace stagewise
