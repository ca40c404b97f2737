#include <string>
#include <vector>

#include "05_mpi/all_reduce/peer_all_reduce.hpp"
#include "05_mpi/transport/transports.hpp"
#include "cuda/device.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

/// Kernels add up, which read and write the memory of the other GPUs. As with NCCL, a sum is work
/// in a stream, and a recorded step contains it. Unlike NCCL's, these kernels are part of this
/// project: see all_reduce/.
template <typename T>
class PeerTransport final : public Transport<T> {
 public:
  PeerTransport(Communicator& world, std::chrono::seconds patience)
      : world_(&world), sums_(world, patience), patience_(patience) {}

  bool can_be_recorded() const override { return true; }

  std::vector<T*> places_for(std::span<const Index> counts) override {
    return sums_.allocate(counts);
  }

  //! [begin]
  /// Pieces that are adjacent in the memory of all ranks are one message, in which biases, which
  /// have no l2, may come before weights.
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override {
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
      sums_.add_up(stream, message.values, message.count, message.update);
      message = piece;
    }
    sums_.add_up(stream, message.values, message.count, message.update);
  }
  //! [begin]

  void finish() override {}

  //! [check]
  void check() override {
    const std::optional<int> lost = sums_.lost_rank();
    if (!lost) return;
    throw Error("the numbers of rank " + std::to_string(world_->rank_in_world(*lost)) +
                " have not come within " + count_of(patience_.count(), "second") +
                ": it has stopped, or is far behind; --timeout says how long to wait");
  }
  //! [check]

 private:
  /// Whether a piece is the next one behind the message.
  bool follows(const Piece<T>& message, const Piece<T>& piece) const {
    constexpr auto alignment = static_cast<Index>(PeerAllReduce<T>::alignment / sizeof(T));
    const Index next = (message.count + alignment - 1) / alignment * alignment;
    const auto is_next = [&](const T* first, const T* second) {
      return second == first + next && sums_.is_shared(first, next + piece.count);
    };
    const T* const parameters = message.update.parameters;
    return is_next(message.values, piece.values) &&
           (message.update.l2 == piece.update.l2 || message.update.l2 == 0) &&
           (parameters == nullptr || is_next(parameters, piece.update.parameters));
  }

  const Communicator* world_;
  PeerAllReduce<T> sums_;
  std::chrono::seconds patience_;
};

}  // namespace

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

template <typename T>
std::unique_ptr<Transport<T>> make_peer_transport(Communicator& world,
                                                  std::chrono::seconds patience) {
  return std::make_unique<PeerTransport<T>>(world, patience);
}

template std::unique_ptr<Transport<float>> make_peer_transport(Communicator&, std::chrono::seconds);
template std::unique_ptr<Transport<double>> make_peer_transport(Communicator&,
                                                                std::chrono::seconds);

}  // namespace stagewise::mpi
