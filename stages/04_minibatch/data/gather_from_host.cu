/// @file
/// The next batch, put together on the device from rows that are on the host.
///
/// What counts is the bus. A load takes more than a microsecond to cross it, so many must be under
/// way for it to be always busy; and the kernel must find room beside the blocks of the step that
/// computes meanwhile.
///
/// Work: rows x features elements cross the bus once, in the form of the data set, and are written
/// once.

#include <algorithm>
#include <type_traits>

#include "03_shared_memory/vector.cuh"
#include "04_minibatch/data/gather.hpp"
#include "cuda/fast_divmod.cuh"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::Vector;

/// A number in the form of the data set as the network wants it; see Dataset. For all 256 values,
/// the corrected product is pixel / 255, rounded, without the branch that a division has.
template <typename T>
__device__ T as(std::uint8_t pixel) {
  constexpr T factor = T{1} / T{255};
  const T value = static_cast<T>(pixel) * factor;
  return fma(fma(-value, T{255}, static_cast<T>(pixel)), factor, value);
}
/// See above.
template <typename T>
__device__ T as(double value) {
  return static_cast<T>(value);
}

/// Four pixels stay packed in a register until they are converted.
template <typename Stored, int length>
using Loaded = std::conditional_t<std::is_same_v<Stored, std::uint8_t> && length == 4,
                                  std::uint32_t, Vector<Stored, length>>;

/// Number `i` of those that were loaded together.
template <typename T>
__device__ T number_of(std::uint32_t pixels, int i) {
  return as<T>(static_cast<std::uint8_t>(pixels >> (8 * static_cast<unsigned>(i))));
}
/// See above.
template <typename T, typename Stored, int length>
__device__ T number_of(const Vector<Stored, length>& loaded, int i) {
  return as<T>(loaded.values[i]);
}

constexpr int host_blocks = 64;

/// How many parts a warp requests at once, while as many again are under way.
template <typename From>
constexpr int parts_under_way = sizeof(From) <= 4 ? 8 : 4;

/// Blocks of so few threads and registers find room beside those of the step. Otherwise they run
/// when those have ended, and nothing overlaps.
constexpr int host_threads = 128;
constexpr int on_multiprocessor = 8;  ///< which leaves 64 registers a thread

//! [gather_from_host]
/// A warp's load takes what its lanes have, `length` numbers each: a part of a row. The parts of
/// all rows are dealt to the warps in turn, and a warp requests several, and the next several
/// before it converts these: a hundred images of 784 bytes already have 700 parts. Where there is
/// nothing left to load, the last that there was is loaded again: a branch would make the compiler
/// request one by one. What a lane loads becomes one vector, or two, so that the stores of a warp
/// are coalesced, too.
/// @param parts of a row.
template <int length, typename Stored, typename T>
__global__ void __launch_bounds__(host_threads, on_multiprocessor)
    gather_from_host_kernel(const Stored* __restrict__ data, Index stride,
                            const std::int32_t* __restrict__ labels, Index features,
                            const std::uint32_t* __restrict__ order, Index rows, int parts,
                            cuda::FastDivmod by_parts, T* __restrict__ batch,
                            std::int32_t* __restrict__ batch_labels) {
  using From = Loaded<Stored, length>;
  using To = Vector<T, (length < Vector<T>::length ? length : Vector<T>::length)>;
  const Index thread = cuda::index_x();
  const Index threads = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = thread; row < rows; row += threads) batch_labels[row] = labels[order[row]];

  constexpr int together = parts_under_way<From>;
  const auto warps = static_cast<int>(threads / 32);
  const int all = static_cast<int>(rows) * parts;
  const auto width = static_cast<int>(features);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto place_of = [&](int number) {
    return by_parts.divide(number < all ? number : all - 1);
  };
  const auto feature_of = [&](int part) { return (part * 32 + lane) * length; };
  const int step = together * warps;

  std::uint32_t samples[together];
  const auto look_up = [&](int first) {
#pragma unroll
    for (int i = 0; i < together; ++i) {
      samples[i] = order[place_of(first + i * warps).quotient];
    }
  };
  const auto request = [&](int first, From* to) {
    if (first >= all) return;
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int feature = feature_of(place_of(first + i * warps).remainder);
      const Stored* const row = data + samples[i] * stride;
      to[i] = *reinterpret_cast<const From*>(row + min(feature, width - length));
    }
    look_up(first + step);
  };
  const auto store = [&](int first, const From* loaded) {
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const auto place = place_of(first + i * warps);
      const int feature = feature_of(place.remainder);
      if (first + i * warps >= all || feature >= width) continue;
      T* const to = batch + place.quotient * features + feature;
#pragma unroll
      for (int j = 0; j < length; j += To::length) {
        To converted;
#pragma unroll
        for (int l = 0; l < To::length; ++l) converted.values[l] = number_of<T>(loaded[i], j + l);
        *reinterpret_cast<To*>(to + j) = converted;
      }
    }
  };

  From now[together];
  From next[together];
  auto first = static_cast<int>(thread / 32);
  look_up(first);
  request(first, now);
  for (; first < all; first += 2 * step) {
    request(first + step, next);
    store(first, now);
    request(first + 2 * step, now);
    store(first + step, next);
  }
}
//! [gather_from_host]

}  // namespace

template <typename Stored, typename T>
void gather_from_host(cudaStream_t stream, const Stored* data, Index stride,
                      const std::int32_t* labels, Index features, const std::uint32_t* order,
                      Index rows, T* batch, std::int32_t* batch_labels) {
  if (rows == 0) return;
  const auto run = [&]<int length>() {
    const auto parts = static_cast<int>(cuda::pieces(features, 32 * length));
    // No more than have something to load.
    constexpr Index of_block = host_threads / 32 * parts_under_way<Loaded<Stored, length>>;
    const Index blocks = std::min<Index>(host_blocks, cuda::pieces(rows * parts, of_block));
    gather_from_host_kernel<length><<<static_cast<unsigned>(blocks), host_threads, 0, stream>>>(
        data, stride, labels, features, order, rows, parts, cuda::FastDivmod(parts), batch,
        batch_labels);
    CUDA_CHECK_LAUNCH("gather_from_host");
  };
  constexpr int length = sizeof(Stored) == 1 ? 4 : 2;
  if (features % length == 0 && stride % length == 0) {  // allocated memory begins at a vector
    run.template operator()<length>();
  } else {
    run.template operator()<1>();
  }
}

template void gather_from_host(cudaStream_t, const std::uint8_t*, Index, const std::int32_t*, Index,
                               const std::uint32_t*, Index, float*, std::int32_t*);
template void gather_from_host(cudaStream_t, const std::uint8_t*, Index, const std::int32_t*, Index,
                               const std::uint32_t*, Index, double*, std::int32_t*);
template void gather_from_host(cudaStream_t, const double*, Index, const std::int32_t*, Index,
                               const std::uint32_t*, Index, float*, std::int32_t*);
template void gather_from_host(cudaStream_t, const double*, Index, const std::int32_t*, Index,
                               const std::uint32_t*, Index, double*, std::int32_t*);

}  // namespace stagewise::minibatch
