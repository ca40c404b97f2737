/// @file
/// The ranks of a training, as the command line and the trainer see them.
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

  /// From here on, data come from there.
  void take_data_from(DataFrom source) { data_from_ = source; }
  DataFrom data_from() const { return data_from_; }

  int rank() const override { return world_->rank(); }
  int count() const override { return world_->size(); }
  Split load_for_training(const DatasetOptions& options) override;
  Dataset load_for_evaluation(const DatasetOptions& options,
                              const std::optional<TableEncoding>& encoding) override;

  std::string of_first(const std::string& own) override { return world_->gather_all(own).front(); }
  void expect_same(const std::string& what, std::uint64_t digest) override;

  /// Ranks one behind the other; see shard_of().
  const Dataset& shard(const Dataset& whole, Dataset& storage) override;
  Sums sum(const Sums& own) override;
  double largest(double own) override;

  /// The rank that sum() has found to have had the first bad step; -1 if there was none.
  int rank_of_bad_step() const { return rank_of_bad_step_; }

 private:
  /// Whether this rank reads the data set.
  bool reads() const { return data_from_ == DataFrom::all || rank() == 0; }

  /// Compares what all ranks have read, or gives the others the outlines of what rank 0 has read.
  /// @param name of the data set.
  void agree_on(const std::string& name, std::initializer_list<Dataset*> parts);

  World* world_;
  DataFrom data_from_ = DataFrom::root;
  int rank_of_bad_step_ = -1;
};

}  // namespace stagewise::mpi
