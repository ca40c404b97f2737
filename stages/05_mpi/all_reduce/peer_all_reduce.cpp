#include "05_mpi/all_reduce/peer_all_reduce.hpp"

#include <algorithm>
#include <stdexcept>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::mpi {
namespace {

constexpr std::size_t word_bytes = 16;
constexpr std::size_t data_in_word = 8;

//! [threshold]
/// The longest message for which two ranks are faster in one shot. Between two H100s, straight
/// lines through the times for 512 KB and 6.4 MB cross at 1.1 MB
/// (benchmarks/results/h100_stage05_peer.md).
constexpr std::size_t threshold_of_two = std::size_t{1} << 20;

/// The longest message for which N ranks are faster in one shot.
///
/// Both take a latency, a or b, and the time of the bytes that leave a GPU at bandwidth B: in one
/// shot a + 2 (N - 1) n / B, in two b + 2 (N - 1) / N n / B. They are equal where n is (b - a) B
/// times N / (2 (N - 1)^2). That factor is 1 for two ranks.
std::size_t threshold(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  if (n <= 2) return threshold_of_two;
  const std::size_t bytes = threshold_of_two * n / (2 * (n - 1) * (n - 1));
  return bytes / data_in_word * data_in_word;
}
//! [threshold]

std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// What is stored in such bytes.
template <typename U>
U* as(std::byte* bytes) {
  return static_cast<U*>(static_cast<void*>(bytes));
}

template <typename U>
void set_to_zero(Tensor<U>& tensor) {
  CUDA_CHECK(cudaMemset(tensor.data(), 0, static_cast<std::size_t>(tensor.elements()) * sizeof(U)));
}

}  // namespace

template <typename T>
PeerAllReduce<T>::PeerAllReduce(Communicator& world, std::chrono::seconds patience)
    : world_(&world),
      peers_{.rank = world.rank(), .count = world.size()},
      lost_({1}, cuda::pinned_memory()),
      one_shot_count_({max_sum_blocks}, cuda::device_memory()),
      two_shot_count_({max_sum_blocks}, cuda::device_memory()),
      inboxes_(world, 2 * static_cast<std::size_t>(world.size()) * threshold(world.size()) /
                          data_in_word * word_bytes),
      flags_(world, sizeof(std::uint64_t) * max_sum_blocks * max_peers) {
  *lost_.data() = 0;
  set_to_zero(one_shot_count_);
  set_to_zero(two_shot_count_);
  peers_.patience = {.lost = lost_.data(),
                     .nanoseconds = std::chrono::nanoseconds(patience).count()};
  const int blocks = std::min({max_sum_blocks, resident_one_shot_blocks<T>(world.size()),
                               resident_two_shot_blocks<T>(world.size())});
  const std::vector<int> of_all = world.gather_all(blocks);
  blocks_ = *std::min_element(of_all.begin(), of_all.end());
  CUDA_CHECK(cudaDeviceSynchronize());
}

template <typename T>
std::vector<T*> PeerAllReduce<T>::allocate(std::span<const Index> counts) {
  std::vector<std::size_t> begins;
  std::size_t bytes = 0;
  for (const Index count : counts) {
    begins.push_back(bytes);
    bytes += aligned(static_cast<std::size_t>(count) * sizeof(T), alignment);
  }
  const PeerBuffer& buffer = buffers_.emplace_back(*world_, std::max(bytes, alignment));
  std::vector<T*> places;
  for (const std::size_t begin : begins) {
    places.push_back(as<T>(buffer.of(peers_.rank) + begin));
  }
  return places;
}

template <typename T>
const PeerBuffer* PeerAllReduce<T>::buffer_of(const T* values, Index count) const {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const PeerBuffer& buffer) {
    return buffer.contains(values, static_cast<std::size_t>(count) * sizeof(T));
  });
  return found == buffers_.end() ? nullptr : &*found;
}

template <typename T>
bool PeerAllReduce<T>::is_shared(const T* values, Index count) const {
  return buffer_of(values, count) != nullptr;
}

template <typename T>
std::size_t PeerAllReduce<T>::max_one_shot_bytes() const {
  return threshold(peers_.count);
}

//! [add_up]
template <typename T>
void PeerAllReduce<T>::add_up(const cuda::Stream& stream, T* values, Index count,
                              const Update<T>& update) {
  const auto fits_two_shots = [&](const T* place) {
    // NOLINTNEXTLINE(*-reinterpret-cast): an address as a number
    return reinterpret_cast<std::uintptr_t>(place) % word_bytes == 0 && is_shared(place, count);
  };
  const bool is_long = static_cast<std::size_t>(count) * sizeof(T) > max_one_shot_bytes();
  if (is_long && fits_two_shots(values) &&
      (update.parameters == nullptr || fits_two_shots(update.parameters))) {
    two_shot(stream, values, count, update);
  } else {
    one_shot(stream, values, count, update);
  }
}
//! [add_up]

template <typename T>
void PeerAllReduce<T>::one_shot(const cuda::Stream& stream, T* values, Index count,
                                const Update<T>& update) {
  OneShot<T> sum{.peers = peers_,
                 .capacity = static_cast<Index>(max_one_shot_bytes() / data_in_word),
                 .numbers = one_shot_count_.data()};
  for (int rank = 0; rank < peers_.count; ++rank) {
    sum.inbox[rank] = as<FlaggedWord>(inboxes_.of(rank));
  }
  const auto most = static_cast<Index>(max_one_shot_bytes() / sizeof(T));
  for (Index first = 0; first < count; first += most) {
    sum.values = values + first;
    sum.count = std::min(most, count - first);
    sum.update = update.from(first);
    mpi::one_shot(stream.get(), sum, blocks_);
  }
}

template <typename T>
void PeerAllReduce<T>::two_shot(const cuda::Stream& stream, T* values, Index count,
                                const Update<T>& update) {
  if (count == 0) return;
  const std::size_t bytes = aligned(static_cast<std::size_t>(count) * sizeof(T), word_bytes);
  TwoShot<T> sum{.peers = peers_,
                 .update = update,
                 .count = static_cast<Index>(bytes / sizeof(T)),
                 .numbers = two_shot_count_.data()};
  const auto find_on_all = [&](T* own, T** on_all) {
    const PeerBuffer* const buffer = buffer_of(own, count);
    if (buffer == nullptr) throw std::logic_error("a sum in two shots takes memory of all ranks");
    const auto begin = static_cast<std::byte*>(static_cast<void*>(own)) - buffer->of(peers_.rank);
    for (int rank = 0; rank < peers_.count; ++rank) on_all[rank] = as<T>(buffer->of(rank) + begin);
  };
  find_on_all(values, sum.values);
  if (update.parameters != nullptr) find_on_all(update.parameters, sum.parameters);
  for (int rank = 0; rank < peers_.count; ++rank) {
    sum.flags[rank] = as<std::uint64_t>(flags_.of(rank));
  }
  mpi::two_shot(stream.get(), sum, blocks_);
}

template <typename T>
std::optional<int> PeerAllReduce<T>::lost_rank() const {
  const unsigned lost = *static_cast<const volatile unsigned*>(lost_.data());
  if (lost == 0) return std::nullopt;
  return static_cast<int>(lost) - 1;
}

template class PeerAllReduce<float>;
template class PeerAllReduce<double>;

}  // namespace stagewise::mpi
