/// @file
/// Stage 05: stage 04, plus sums over several processes.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "04_minibatch/minibatch_executor.hpp"
#include "05_mpi/transport.hpp"

namespace stagewise {

/// Executes an all_reduce with a transport. In a lane of its own, the sum is computed while other
/// lanes continue; a line that waits for it gets the sum.
template <typename T>
class DistributedExecutor final : public MinibatchExecutor<T> {
 public:
  /// @param transport its name, other than `auto`; it is made when the first program needs it.
  /// @param world must outlive this.
  /// @param patience see mpi::make_transport().
  DistributedExecutor(std::string transport, mpi::World& world,
                      std::chrono::seconds patience = mpi::default_patience)
      : name_(std::move(transport)), world_(&world), patience_(patience) {}

  /// @throws Error if another rank is known to have failed, since then the values mean nothing.
  void copy_out(void* host, const void* from, std::size_t bytes) override;

  using MinibatchExecutor<T>::run;
  void run(const AllReduce& op);

  void execute(const Program& program, const Batch& batch) override;

  /// Whether exchanges between processes work without the host.
  bool can_be_recorded() const override {
    return transport_ == nullptr || transport_->can_be_recorded();
  }

  void check() override {
    if (transport_ != nullptr) transport_->check();
  }
  bool has_failed() const override { return transport_ != nullptr && transport_->has_failed(); }

 private:
  void run(const Line& line) override { run_in_range(*this, line); }
  void prepare(const Program& program) override;
  void settle(std::size_t line) override;
  void prepare_sums(const Program& program);
  void place(const std::vector<ValueId>& values);

  std::string name_;
  mpi::World* world_;
  std::chrono::seconds patience_;
  std::unique_ptr<mpi::Transport<T>> transport_;
  std::set<int> placed_;  ///< values for which the transport has been asked for places
  std::vector<mpi::Piece<T>> bucket_;
  std::vector<std::size_t> begun_;  ///< lines whose sums have begun
};

}  // namespace stagewise
