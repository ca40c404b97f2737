/// @file
/// The next batch, put together on the device.
///
/// Stages 01 to 03 gathered a batch on the host and copied it: for 1,000 images 3 MB a step, over a
/// bus that is a hundred times slower than the device's memory. Here the data set is copied once,
/// and an epoch's order of samples once an epoch. A step needs nothing from the host.
///
/// Steps are recorded and repeated with the same arguments. So the arguments cannot say which
/// samples are next; a cursor in the device's memory does, which take_chunk() reads and moves on.
/// Nor can they say the learning rate, where it changes: take_chunk() copies it to a fixed place.
///
/// Where the data set does not fit, another kernel takes the rows from the host:
/// gather_from_host.cu.
///
/// Work: the gather reads and writes rows x features elements once; take_chunk() 4 bytes a sample.

#include <algorithm>

#include "03_shared_memory/reduce/last_block.cuh"
#include "03_shared_memory/vector.cuh"
#include "04_minibatch/data/gather.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::is_aligned;
using shared_memory::is_last_block;
using shared_memory::Vector;

constexpr int chunk_threads = 1024;
constexpr int chunk_loads = 8;  ///< of a thread, under way together

//! [take_chunk]
__global__ void take_chunk_kernel(const std::uint32_t* __restrict__ order, Cursor* cursor,
                                  Index steps, Index rows, std::uint32_t* __restrict__ chunk,
                                  volatile std::int64_t* progress,
                                  const StepRates* __restrict__ rates,
                                  StepRates* __restrict__ chunk_rates) {
  const Index first = cursor->first;
  const Index threads = static_cast<Index>(gridDim.x) * blockDim.x;
#pragma unroll chunk_loads
  for (Index i = cuda::index_x(); i < steps * rows; i += threads) chunk[i] = order[first + i];
  for (Index i = cuda::index_x(); rates != nullptr && i < steps; i += threads) {
    chunk_rates[i] = rates[cursor->step + i];
  }
  // The last block moves it on: all have read it by then.
  if (!is_last_block(&cursor->blocks_done, gridDim.x) || threadIdx.x != 0) return;
  if (progress != nullptr) *progress = cursor->step;
  cursor->chunk_step = cursor->step;
  cursor->step += steps;
  cursor->first += steps * rows;
}
//! [take_chunk]

/// A thread copies one group of neighbours, a vector or a single number, of a few rows.
template <typename Group>
__global__ void gather_kernel(const Group* __restrict__ data,
                              const std::int32_t* __restrict__ labels, Index groups,
                              const std::uint32_t* __restrict__ order, Index rows,
                              Group* __restrict__ batch, std::int32_t* __restrict__ batch_labels) {
  const Index group = cuda::index_x();
  if (group >= groups) return;
  for (Index row = cuda::index_y(); row < rows; row += cuda::rows_in_grid()) {
    const Index sample = order[row];
    batch[row * groups + group] = data[sample * groups + group];
    if (group == 0) batch_labels[row] = labels[sample];
  }
}

}  // namespace

void take_chunk(cudaStream_t stream, const std::uint32_t* order, Cursor* cursor, Index steps,
                Index rows, std::uint32_t* chunk, volatile std::int64_t* progress,
                const StepRates* rates, StepRates* chunk_rates) {
  const Index blocks =
      std::max<Index>(1, cuda::pieces(steps * rows, Index{chunk_threads} * chunk_loads));
  take_chunk_kernel<<<static_cast<unsigned>(blocks), chunk_threads, 0, stream>>>(
      order, cursor, steps, rows, chunk, progress, rates, chunk_rates);
  CUDA_CHECK_LAUNCH("take_chunk");
}

template <typename T>
void gather(cudaStream_t stream, const T* data, const std::int32_t* labels, Index features,
            const std::uint32_t* order, Index rows, T* batch, std::int32_t* batch_labels) {
  const auto run = [&](const auto* from, auto* to, Index groups) {
    const dim3 block(32, 8);
    gather_kernel<<<cuda::grid_for(rows, groups, block), block, 0, stream>>>(
        from, labels, groups, order, rows, to, batch_labels);
    CUDA_CHECK_LAUNCH("gather");
  };
  if (is_aligned(data, features) && is_aligned(batch, features)) {
    run(reinterpret_cast<const Vector<T>*>(data), reinterpret_cast<Vector<T>*>(batch),
        features / Vector<T>::length);
  } else {
    run(data, batch, features);
  }
}

template void gather(cudaStream_t, const float*, const std::int32_t*, Index, const std::uint32_t*,
                     Index, float*, std::int32_t*);
template void gather(cudaStream_t, const double*, const std::int32_t*, Index, const std::uint32_t*,
                     Index, double*, std::int32_t*);

}  // namespace stagewise::minibatch
