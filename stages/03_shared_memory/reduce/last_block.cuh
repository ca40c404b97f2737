/// @file
/// How the last block of a kernel knows that it is the last.
///
/// Blocks cannot wait for each other, but they can draw tickets: who draws the last one knows that
/// all others have done their part. No block waits, so this works however few of them run at once.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

//! [last_ticket]
/// Whether this block draws the last of `blocks` tickets; that says nothing about what the others
/// have written. `counter`, 0 at the beginning, is 0 again after the last. All threads call it.
__device__ inline bool draws_last_ticket(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicAdd(counter, 1U) + 1 == blocks;
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}
//! [last_ticket]

//! [last_block]
/// Whether this block is the last of `blocks` to call this. If so, it sees what the others wrote to
/// global memory before, and `counter`, 0 at the beginning, is 0 again. All threads call it.
__device__ inline bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __threadfence();  // what this thread has written is seen by the other blocks ...
  __syncthreads();  // ... as is what the rest of its block has written ...
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicAdd(counter, 1U) + 1 == blocks;  // ... before they see this
    if (last) *counter = 0;
    __threadfence();  // and none of what is read from here on was fetched earlier
  }
  __syncthreads();
  return last;
}
//! [last_block]

}  // namespace stagewise::shared_memory
