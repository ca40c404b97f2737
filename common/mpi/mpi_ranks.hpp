/// @file
/// The ranks of a training run, as the command line and the trainer see them.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "mpi/world.hpp"
#include "training/ranks.hpp"

namespace stagewise::mpi {

/// Who reads the data set.
enum class DataFrom : std::uint8_t {
  automatic,  ///< every rank that can; rank 0 sends it to the others
  root,       ///< rank 0, which sends it to all others
  all         ///< every rank, from its own files
};

/// The one of that name: auto, root or all.
DataFrom data_from(const std::string& name);

/// The processes of MPI.
class MpiRanks final : public Ranks {
 public:
  /// @param world must outlive this.
  explicit MpiRanks(World& world) : world_(&world) {}

  /// Sets where data come from, from now on.
  void take_data_from(DataFrom source) { data_from_ = source; }

  /// Sets what rank 0 calls while it sends data, with the number of bytes sent and that of all.
  void on_sending(std::function<void(std::uint64_t, std::uint64_t)> call) { on_sending_ = std::move(call); }

  /// "47 MB of samples from rank 0 to 3 ranks; rank 1: ..."; empty if all have read the data set.
  const std::string& what_was_sent() const { return what_was_sent_; }

  int rank() const override { return world_->rank(); }
  int count() const override { return world_->size(); }
  Split load_for_training(const DatasetOptions& options) override;
  Dataset load_for_evaluation(const DatasetOptions& options, const std::optional<TableEncoding>& encoding) override;

  std::string of_first(const std::string& own) override { return world_->gather_all(own).front(); }
  void expect_same(const std::string& what, std::uint64_t digest) override;

  /// This rank's shard; shards are consecutive, in the order of the ranks; see shard_of().
  const Dataset& shard(const Dataset& whole, Dataset& storage) override;
  Sums sum(const Sums& own) override;
  std::vector<double> gather(const std::vector<double>& own) override;
  double largest(double own) override;

  /// The rank with the first bad step that sum() has found; -1 if there was none.
  int rank_of_bad_step() const { return rank_of_bad_step_; }

 private:
  /// Lets the ranks read that should, sends the others what rank 0 has read, and compares.
  /// @param name the data set's name.
  /// @param read reads the parts.
  void load(const std::string& name, const std::function<void()>& read, std::initializer_list<Dataset*> parts);

  World* world_;
  DataFrom data_from_ = DataFrom::automatic;
  std::function<void(std::uint64_t, std::uint64_t)> on_sending_;
  std::string what_was_sent_;
  int rank_of_bad_step_ = -1;
};

}  // namespace stagewise::mpi
