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
/// Where the data set does not fit, it stays on the host, but the kernel is nearly the same: it
/// reads the rows there. What counts then is the bus. A load takes about a microsecond to cross it,
/// and so many must be under way that it is always busy; 32 small blocks suffice for that, which
/// fit beside those of the step that computes meanwhile.
///
/// Work: the gathers read and write rows x features elements once; take_chunk() 4 bytes a sample.

#include "03_shared_memory/vector.cuh"
#include "04_minibatch/gather.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::is_aligned;
using shared_memory::Vector;

constexpr int chunk_threads = 1024;

//! [take_chunk]
__global__ void take_chunk_kernel(const std::uint32_t* __restrict__ order, Cursor* cursor,
                                  Index steps, Index rows, std::uint32_t* __restrict__ chunk,
                                  volatile std::int64_t* progress,
                                  const StepRates* __restrict__ rates,
                                  StepRates* __restrict__ chunk_rates) {
  const Index first = cursor->first;
#pragma unroll 8  // so many loads are in flight together
  for (Index i = threadIdx.x; i < steps * rows; i += blockDim.x) chunk[i] = order[first + i];
  for (Index i = threadIdx.x; rates != nullptr && i < steps; i += blockDim.x) {
    chunk_rates[i] = rates[cursor->step + i];
  }
  __syncthreads();  // all have read the cursor
  if (threadIdx.x != 0) return;
  if (progress != nullptr) *progress = cursor->step;
  cursor->chunk_step = cursor->step;
  cursor->step += steps;
  cursor->first += steps * rows;
}
//! [take_chunk]

//! [gather]
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
//! [gather]

/// A number in the form of the data set as the network wants it; see Dataset.
template <typename T>
__device__ T as(std::uint8_t pixel) {
  return static_cast<T>(pixel) / T{255};
}
/// See above.
template <typename T>
__device__ T as(double value) {
  return static_cast<T>(value);
}

/// On an H200, a batch of 10,000 arrives at 7.4 GB/s with 8, and at 16 GB/s with 32 or 64.
constexpr int host_blocks = 32;
constexpr int host_threads = 256;   ///< few enough to fit beside blocks of the step
constexpr int rows_under_way = 16;  ///< of a warp, at most

/// Copies `count` rows, each `distance` behind the one before, with all lanes of a warp. What a
/// lane loads becomes one vector, or two, so that the stores of a warp are coalesced, too.
template <int count, int length, typename Stored, typename T>
__device__ void copy_rows(const Stored* __restrict__ data, Index features,
                          const std::uint32_t* __restrict__ order, Index distance,
                          T* __restrict__ batch) {
  using From = Vector<Stored, length>;
  using To = Vector<T, (length < Vector<T>::length ? length : Vector<T>::length)>;
  for (Index feature = threadIdx.x % 32 * length; feature < features; feature += 32 * length) {
    From loaded[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const Index sample = order[i * distance];
      loaded[i] = *reinterpret_cast<const From*>(data + sample * features + feature);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
      T* const to = batch + i * distance * features + feature;
#pragma unroll
      for (int j = 0; j < length; j += To::length) {
        To converted;
#pragma unroll
        for (int l = 0; l < To::length; ++l) converted.values[l] = as<T>(loaded[i].values[j + l]);
        *reinterpret_cast<To*>(to + j) = converted;
      }
    }
  }
}

//! [gather_from_host]
/// A warp takes as many rows at a time as there are, in powers of two: it requests all of them
/// before it converts the first. A branch for each row would make the compiler request one by one.
template <int length, typename Stored, typename T>
__global__ void __launch_bounds__(host_threads)
    gather_from_host_kernel(const Stored* __restrict__ data,
                            const std::int32_t* __restrict__ labels, Index features,
                            const std::uint32_t* __restrict__ order, Index rows,
                            T* __restrict__ batch, std::int32_t* __restrict__ batch_labels) {
  const Index thread = cuda::index_x();
  const Index threads = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = thread; row < rows; row += threads) batch_labels[row] = labels[order[row]];

  const Index warps = threads / 32;
  Index row = thread / 32;
  const auto copy = [&]<int count>() {
    for (; row + (count - 1) * warps < rows; row += count * warps) {
      copy_rows<count, length>(data, features, order + row, warps, batch + row * features);
    }
  };
  copy.template operator()<rows_under_way>();
  copy.template operator()<rows_under_way / 2>();
  copy.template operator()<rows_under_way / 4>();
  copy.template operator()<rows_under_way / 8>();
  copy.template operator()<1>();
}
//! [gather_from_host]

}  // namespace

void take_chunk(cudaStream_t stream, const std::uint32_t* order, Cursor* cursor, Index steps,
                Index rows, std::uint32_t* chunk, volatile std::int64_t* progress,
                const StepRates* rates, StepRates* chunk_rates) {
  take_chunk_kernel<<<1, chunk_threads, 0, stream>>>(order, cursor, steps, rows, chunk, progress,
                                                     rates, chunk_rates);
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

template <typename Stored, typename T>
void gather_from_host(cudaStream_t stream, const Stored* data, const std::int32_t* labels,
                      Index features, const std::uint32_t* order, Index rows, T* batch,
                      std::int32_t* batch_labels) {
  if (rows == 0) return;
  const auto run = [&](auto* kernel) {
    kernel<<<host_blocks, host_threads, 0, stream>>>(data, labels, features, order, rows, batch,
                                                     batch_labels);
    CUDA_CHECK_LAUNCH("gather_from_host");
  };
  constexpr int length = sizeof(Stored) == 1 ? 4 : 2;
  if (features % length == 0) {  // memory that was allocated as a whole begins at a vector
    run(gather_from_host_kernel<length, Stored, T>);
  } else {
    run(gather_from_host_kernel<1, Stored, T>);
  }
}

template void gather(cudaStream_t, const float*, const std::int32_t*, Index, const std::uint32_t*,
                     Index, float*, std::int32_t*);
template void gather(cudaStream_t, const double*, const std::int32_t*, Index, const std::uint32_t*,
                     Index, double*, std::int32_t*);
template void gather_from_host(cudaStream_t, const std::uint8_t*, const std::int32_t*, Index,
                               const std::uint32_t*, Index, float*, std::int32_t*);
template void gather_from_host(cudaStream_t, const std::uint8_t*, const std::int32_t*, Index,
                               const std::uint32_t*, Index, double*, std::int32_t*);
template void gather_from_host(cudaStream_t, const double*, const std::int32_t*, Index,
                               const std::uint32_t*, Index, float*, std::int32_t*);
template void gather_from_host(cudaStream_t, const double*, const std::int32_t*, Index,
                               const std::uint32_t*, Index, double*, std::int32_t*);

}  // namespace stagewise::minibatch
