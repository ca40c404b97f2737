/// @file
/// The ranks of a training run, as the command line and the trainer see them.
#pragma once

#include <initializer_list>
#include <string>

#include "mpi/world.hpp"
#include "training/ranks.hpp"

namespace stagewise::mpi {

/// Who reads the data set.
enum class DataFrom : std::uint8_t {
  root,  ///< rank 0, which sends the others what they need
  all    ///< every rank, from its own files
};

/// The processes of MPI.
class MpiRanks final : public Ranks {
 public:
  /// @param world must outlive this.
  explicit MpiRanks(World& world) : world_(&world) {}

  /// Sets where data come from, from now on.
  void take_data_from(DataFrom source) { data_from_ = source; }
  DataFrom data_from() const { return data_from_; }

  int rank() const override { return world_->rank(); }
  int count() const override { return world_->size(); }
  Split load_for_training(const DatasetOptions& options) override;
  Dataset load_for_evaluation(const DatasetOptions& options,
                              const std::optional<TableEncoding>& encoding) override;

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
  /// Whether this rank reads the data set.
  bool reads() const { return data_from_ == DataFrom::all || rank() == 0; }

  /// Compares the data that all ranks have read, or sends the outlines of rank 0's data to the
  /// others.
  /// @param name the data set's name.
  void agree_on(const std::string& name, std::initializer_list<Dataset*> parts);

  World* world_;
  DataFrom data_from_ = DataFrom::root;
  int rank_of_bad_step_ = -1;
};

}  // namespace stagewise::mpi
