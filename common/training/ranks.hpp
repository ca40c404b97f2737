/// @file
/// The processes that train one network together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/data_sets/load.hpp"
#include "training/step.hpp"

namespace stagewise {

/// The totals of a batch, or of a whole data set.
struct Sums {
  Totals totals;
  std::int64_t samples = 0;
};

/// The processes of a training run, each with its own number, its rank. This class is for a single
/// process; a stage with several has its own.
///
/// Functions that are not const wait for the other ranks: all must call them, in the same order.
class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// This process's number, from 0. Rank 0 prints and writes files.
  virtual int rank() const { return 0; }

  /// The number of processes.
  virtual int count() const { return 1; }

  /// The data for training, the same on every rank.
  /// @throws as load_for_training().
  virtual Split load_for_training(const DatasetOptions& options) { return stagewise::load_for_training(options); }

  /// The data for evaluation, in the same way.
  /// @throws as load_unseen().
  virtual Dataset load_for_evaluation(const DatasetOptions& options, const std::optional<TableEncoding>& encoding) {
    return load_unseen(options, encoding).samples;
  }

  /// Rank 0's text, on every rank.
  virtual std::string of_first(const std::string& own) { return own; }

  /// Checks that every rank has read the same.
  /// @param what for example "the checkpoint model.h5".
  /// @param digest of what this rank has read.
  /// @throws Error if another rank has a different digest.
  virtual void expect_same([[maybe_unused]] const std::string& what, [[maybe_unused]] std::uint64_t digest) {}

  /// For evaluation, this rank's part of a data set that one of these two has returned.
  /// @param storage where the part is kept, if it is not the whole.
  virtual const Dataset& shard(const Dataset& whole, [[maybe_unused]] Dataset& storage) { return whole; }

  /// The sums over all ranks, bit-identical on each.
  virtual Sums sum(const Sums& own) { return own; }

  /// The numbers of all ranks, one rank after another, on each.
  virtual std::vector<double> gather(const std::vector<double>& own) { return own; }

  /// The largest of all ranks' numbers.
  virtual double largest(double own) { return own; }
};

}  // namespace stagewise
