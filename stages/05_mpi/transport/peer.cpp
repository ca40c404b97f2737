#include "05_mpi/transport/peer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

constexpr std::size_t word_bytes = 16;
constexpr std::size_t data_in_word = 8;

/// Of each value; what lies between two may be added up, too.
constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

template <typename U>
void set_to_zero(Tensor<U>& tensor) {
  CUDA_CHECK(cudaMemset(tensor.data(), 0, static_cast<std::size_t>(tensor.elements()) * sizeof(U)));
}

}  // namespace

//! [threshold]
/// The longest message for which two ranks are faster in one shot. Between two H100s, straight
/// lines through the times for 512 KB and 6.4 MB cross at 1.1 MB
/// (benchmarks/results/h100_stage05_peer.md).
constexpr std::size_t threshold_of_two = std::size_t{1} << 20;

/// The longest message for which N ranks are faster in one shot. Both ways take a latency, a or b,
/// and the time of the bytes that leave a GPU at bandwidth B: in one shot a + 2 (N - 1) n / B, in
/// two b + 2 (N - 1) / N n / B. They are equal where n is (b - a) B times N / (2 (N - 1)^2). That
/// factor is 1 for two ranks. Words are whole.
std::size_t max_one_shot_bytes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  if (n <= 2) return threshold_of_two;
  return threshold_of_two * n / (2 * (n - 1) * (n - 1)) / data_in_word * data_in_word;
}
//! [threshold]

template <typename T>
PeerTransport<T>::PeerTransport(Communicator& world, std::chrono::seconds patience)
    : world_(&world),
      patience_(patience),
      peers_{.rank = world.rank(), .count = world.size()},
      lost_({1}, cuda::pinned_memory()),
      one_shot_count_({max_sum_blocks}, cuda::device_memory()),
      two_shot_count_({max_sum_blocks}, cuda::device_memory()),
      inboxes_(world, 2 * static_cast<std::size_t>(world.size()) *
                          max_one_shot_bytes(world.size()) / data_in_word * word_bytes),
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
std::vector<T*> PeerTransport<T>::memory_for(std::span<const Index> counts) {
  std::vector<std::ptrdiff_t> begins;
  std::size_t bytes = 0;
  for (const Index count : counts) {
    begins.push_back(static_cast<std::ptrdiff_t>(bytes));
    bytes += aligned(static_cast<std::size_t>(count) * sizeof(T), alignment);
  }
  const PeerBuffer& buffer = buffers_.emplace_back(*world_, std::max(bytes, alignment));
  std::vector<T*> memory;
  for (const auto begin : begins) memory.push_back(buffer.of<T>(peers_.rank, begin));
  return memory;
}

template <typename T>
const PeerBuffer* PeerTransport<T>::buffer_of(const T* values, Index count) const {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const PeerBuffer& buffer) {
    return buffer.contains(values, static_cast<std::size_t>(count) * sizeof(T));
  });
  return found == buffers_.end() ? nullptr : &*found;
}

/// Whether a piece is the next one behind the message.
template <typename T>
bool PeerTransport<T>::follows(const Piece<T>& message, const Piece<T>& piece) const {
  const auto next = static_cast<Index>(
      aligned(static_cast<std::size_t>(message.count) * sizeof(T), alignment) / sizeof(T));
  const auto is_next = [&](const T* first, const T* second) {
    return second == first + next && buffer_of(first, next + piece.count) != nullptr;
  };
  const T* const parameters = message.update.parameters;
  return is_next(message.values, piece.values) &&
         (message.update.l2 == piece.update.l2 || message.update.l2 == 0) &&
         (parameters == nullptr || is_next(parameters, piece.update.parameters));
}

//! [begin]
/// Pieces that are adjacent in the memory of all ranks are one message, in which biases, which
/// have no l2, may come before weights.
template <typename T>
void PeerTransport<T>::begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) {
  Piece<T> message;
  for (const Piece<T>& piece : bucket) {
    if (message.count > 0 && follows(message, piece)) {
      const Index first = piece.values - message.values;
      if (piece.update.l2 != message.update.l2) {
        message.update.l2 = piece.update.l2;
        message.update.l2_from = first;
      }
      message.count = first + piece.count;
      continue;
    }
    add_up(stream, message);
    message = piece;
  }
  add_up(stream, message);
}
//! [begin]

template <typename T>
void PeerTransport<T>::add_up(const cuda::Stream& stream, const Piece<T>& piece) {
  const auto fits_two_shots = [&](const T* address) {
    // NOLINTNEXTLINE(*-reinterpret-cast): an address as a number
    return reinterpret_cast<std::uintptr_t>(address) % word_bytes == 0 &&
           buffer_of(address, piece.count) != nullptr;
  };
  const T* const parameters = piece.update.parameters;
  if (static_cast<std::size_t>(piece.count) * sizeof(T) > max_one_shot_bytes(peers_.count) &&
      fits_two_shots(piece.values) && (parameters == nullptr || fits_two_shots(parameters))) {
    two_shot(stream, piece);
  } else {
    one_shot(stream, piece);
  }
}

template <typename T>
void PeerTransport<T>::one_shot(const cuda::Stream& stream, const Piece<T>& piece) {
  OneShot<T> sum{.peers = peers_,
                 .capacity = static_cast<Index>(max_one_shot_bytes(peers_.count) / data_in_word),
                 .numbers = one_shot_count_.data()};
  inboxes_.store_addresses(sum.inbox);
  const auto most = static_cast<Index>(max_one_shot_bytes(peers_.count) / sizeof(T));
  for (Index first = 0; first < piece.count; first += most) {
    sum.values = piece.values + first;
    sum.count = std::min(most, piece.count - first);
    sum.update = piece.update.from(first);
    mpi::one_shot(stream.get(), sum, blocks_);
  }
}

template <typename T>
void PeerTransport<T>::two_shot(const cuda::Stream& stream, const Piece<T>& piece) {
  if (piece.count == 0) return;
  const std::size_t bytes = aligned(static_cast<std::size_t>(piece.count) * sizeof(T), word_bytes);
  TwoShot<T> sum{.peers = peers_,
                 .update = piece.update,
                 .count = static_cast<Index>(bytes / sizeof(T)),
                 .numbers = two_shot_count_.data()};
  const auto find_on_all = [&](T* own, T** on_all) {
    const PeerBuffer* const buffer = buffer_of(own, piece.count);
    if (buffer == nullptr) throw std::logic_error("a sum in two shots takes memory of all ranks");
    const Index first = own - buffer->of<T>(peers_.rank);
    buffer->store_addresses(on_all, first * Index{sizeof(T)});
  };
  find_on_all(piece.values, sum.values);
  if (piece.update.parameters != nullptr) find_on_all(piece.update.parameters, sum.parameters);
  flags_.store_addresses(sum.flags);
  mpi::two_shot(stream.get(), sum, blocks_);
}

template <typename T>
std::optional<int> PeerTransport<T>::lost_rank() const {
  const unsigned lost = *static_cast<const volatile unsigned*>(lost_.data());
  if (lost == 0) return std::nullopt;
  return static_cast<int>(lost) - 1;
}

//! [check]
template <typename T>
void PeerTransport<T>::check() {
  const std::optional<int> lost = lost_rank();
  if (!lost) return;
  throw Error("the numbers of rank " + std::to_string(world_->rank_in_world(*lost)) +
              " have not come within " + count_of(patience_.count(), "second") +
              ": it has stopped, or is far behind; --timeout says how long to wait");
}
//! [check]

template class PeerTransport<float>;
template class PeerTransport<double>;

std::string reason_against_peer(const Placement& placement) {
  if (placement.processes > max_peers) {
    return "it adds up over at most " + std::to_string(max_peers) + " processes, and there are " +
           std::to_string(placement.processes);
  }
  if (placement.hosts > 1) {
    return "a GPU accesses the memory of others on its own host only, and the processes are on " +
           std::to_string(placement.hosts) + " hosts";
  }
  if (placement.max_processes_on_device == 1 || cuda::runs_on_cpu()) return "";
  return "kernels that wait for each other take a GPU for each process, and " +
         std::to_string(placement.max_processes_on_device) + " share one";
}

}  // namespace stagewise::mpi
