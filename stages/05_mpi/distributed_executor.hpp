/// @file
/// Stage 05: stage 04, plus sums over several processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "04_minibatch/minibatch_executor.hpp"
#include "05_mpi/mesh.hpp"
#include "05_mpi/transport.hpp"

namespace stagewise {

/// Executes an all_reduce with a transport. In a lane of its own, the sum is computed while other
/// lanes continue; a line that waits for it gets the sum.
template <typename T>
class DistributedExecutor final : public MinibatchExecutor<T> {
 public:
  /// Waits for the other ranks.
  /// @param transport its name, other than `auto`; it is made when the first program needs it.
  /// @param world must outlive this.
  /// @param tensor_ranks see Mesh.
  /// @param patience see mpi::make_transport().
  DistributedExecutor(std::string transport, mpi::World& world, int tensor_ranks = 1,
                      std::chrono::seconds patience = mpi::default_patience)
      : name_(std::move(transport)), mesh_(world, tensor_ranks), patience_(patience) {}

  const mpi::Mesh& mesh() const { return mesh_; }

  /// @throws Error if another rank is known to have failed, since then the values mean nothing.
  void copy_out(void* host, const void* from, std::size_t bytes) override;

  using MinibatchExecutor<T>::run;
  void run(const AllReduce& op);
  void run(const AllReduceUpdate& op);

  void execute(const Program& program, const Batch& batch) override;

  /// Whether its transport can execute an all_reduce_update.
  bool can_update() const { return mpi::can_update(name_); }

  /// See transport.hpp.
  bool adds_up_in_kernels() const { return mpi::adds_up_in_kernels(name_); }

  /// Whether exchanges between processes work without the host.
  bool can_be_recorded() const override {
    return std::all_of(transports_.begin(), transports_.end(),
                       [](const auto& one) { return one.second->can_be_recorded(); });
  }

  void check() override {
    for (const auto& [group, transport] : transports_) transport->check();
  }
  bool has_failed() const override {
    return std::any_of(transports_.begin(), transports_.end(),
                       [](const auto& one) { return one.second->has_failed(); });
  }

 private:
  void run(const Line& line) override { run_in_range(*this, line); }
  void prepare(const Program& program) override;
  void settle(std::size_t line) override;
  void prepare_sums(const Program& program, Group among);
  void move_to(const std::vector<ValueId>& values, mpi::Transport<T>& transport);

  std::string name_;
  mpi::Mesh mesh_;
  std::chrono::seconds patience_;
  std::map<Group, std::unique_ptr<mpi::Transport<T>>> transports_;
  std::set<int> placed_;  ///< values for which the transport has been asked for memory
  std::vector<mpi::Piece<T>> bucket_;
  std::vector<std::size_t> begun_;  ///< lines whose sums have begun
};

extern template class DistributedExecutor<float>;
extern template class DistributedExecutor<double>;

}  // namespace stagewise
