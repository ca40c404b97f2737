#include <type_traits>

#include <nccl.h>

#include "05_mpi/transport.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

/// NCCL's error message; empty if there is no error.
std::string complaint(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress ? "" : ncclGetErrorString(result);
}

/// @throws Error naming what was being done, and NCCL's reason.
void expect(ncclResult_t result, const std::string& doing) {
  const std::string reason = complaint(result);
  if (!reason.empty()) throw Error("NCCL, " + doing + ", reports: " + reason);
}

template <typename T>
constexpr ncclDataType_t type_of_nccl = std::is_same_v<T, float> ? ncclFloat : ncclDouble;

/// NCCL's kernels are enqueued into a stream like any other, so a recorded step contains them, too,
/// and nothing is left for the host to do. Each rank needs a GPU of its own.
///
/// NCCL knows nothing of MPI, which only broadcasts NCCL's id from rank 0.
template <typename T>
class NcclTransport final : public Transport<T> {
 public:
  //! [id]
  explicit NcclTransport(Communicator& world) {
    ncclUniqueId id{};
    if (world.rank() == 0) expect(ncclGetUniqueId(&id), "making an id");
    world.broadcast(id);
    expect(ncclCommInitRank(&communicator_, world.size(), id, world.rank()), "meeting the ranks");
  }
  //! [id]

  ~NcclTransport() override {
    if (!has_failed_) ncclCommDestroy(communicator_);
  }

  bool can_be_recorded() const override { return true; }

  //! [begin]
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override {
    ncclResult_t result = ncclGroupStart();
    for (const Piece<T>& piece : bucket) {
      if (result != ncclSuccess) break;
      result = ncclAllReduce(piece.values, piece.values, static_cast<std::size_t>(piece.count),
                             type_of_nccl<T>, ncclSum, communicator_, stream.get());
    }
    const ncclResult_t end = ncclGroupEnd();
    expect_alive(result != ncclSuccess ? result : end);
  }
  //! [begin]

  void finish() override {}

  void check() override {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &state);
    expect_alive(asked != ncclSuccess ? asked : state);
  }

  bool has_failed() const override { return has_failed_; }

 private:
  /// If there is an error, aborts what the other ranks will not finish, so no kernel waits forever.
  void expect_alive(ncclResult_t result) {
    if (complaint(result).empty()) return;
    has_failed_ = true;
    ncclCommAbort(communicator_);
    expect(result, "adding up");
  }

  ncclComm_t communicator_ = nullptr;
  bool has_failed_ = false;
};

}  // namespace

std::string reason_against_nccl(const Placement& placement) {
  if (placement.max_processes_on_device == 1) return "";
  return "NCCL takes a GPU for each process, and " +
         std::to_string(placement.max_processes_on_device) + " share one";
}

template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(Communicator& world) {
  return std::make_unique<NcclTransport<T>>(world);
}

template std::unique_ptr<Transport<float>> make_nccl_transport(Communicator&);
template std::unique_ptr<Transport<double>> make_nccl_transport(Communicator&);

}  // namespace stagewise::mpi
