#include "05_mpi/transport/nccl.hpp"

#include <type_traits>

#include <nccl.h>

#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

/// @throws Error naming what was being done, and NCCL's reason.
void expect(ncclResult_t result, const std::string& doing) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw Error("NCCL, " + doing + ", reports: " + ncclGetErrorString(result));
}

template <typename T>
constexpr ncclDataType_t type_of_nccl = std::is_same_v<T, float> ? ncclFloat : ncclDouble;

template <typename T>
class NcclTransport final : public Transport<T> {
 public:
  //! [id]
  explicit NcclTransport(World& world) {
    ncclUniqueId id{};
    if (world.rank() == 0) expect(ncclGetUniqueId(&id), "making an id");
    world.broadcast(id);
    expect(ncclCommInitRank(&communicator_, world.size(), id, world.rank()), "meeting the ranks");
  }
  //! [id]

  ~NcclTransport() override {
    if (has_failed_) {
      ncclCommAbort(communicator_);  // waits for nobody
    } else {
      ncclCommDestroy(communicator_);
    }
  }

  bool can_be_recorded() const override { return true; }

  //! [begin]
  void begin(std::span<const Piece<T>> bucket, const cuda::Stream& stream) override {
    expect(ncclGroupStart(), "beginning a bucket");
    for (const Piece<T>& piece : bucket) {
      expect(ncclAllReduce(piece.values, piece.values, static_cast<std::size_t>(piece.count),
                           type_of_nccl<T>, ncclSum, communicator_, stream.get()),
             "adding up");
    }
    expect(ncclGroupEnd(), "beginning a bucket");
  }
  //! [begin]

  void finish() override {}

  void check() override {
    ncclResult_t state = ncclSuccess;
    expect(ncclCommGetAsyncError(communicator_, &state), "asked how it is");
    has_failed_ = state != ncclSuccess && state != ncclInProgress;
    expect(state, "adding up");
  }

 private:
  ncclComm_t communicator_ = nullptr;
  bool has_failed_ = false;
};

}  // namespace

std::string reason_against_nccl(const Placement& placement) {
  if (placement.most_processes_on_device == 1) return "";
  return "NCCL takes a GPU for each process, and " +
         std::to_string(placement.most_processes_on_device) + " share one";
}

template <typename T>
std::unique_ptr<Transport<T>> make_nccl_transport(World& world) {
  return std::make_unique<NcclTransport<T>>(world);
}

template std::unique_ptr<Transport<float>> make_nccl_transport(World&);
template std::unique_ptr<Transport<double>> make_nccl_transport(World&);

}  // namespace stagewise::mpi
