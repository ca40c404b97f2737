/// @file
/// The processes that train one network together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/load.hpp"
#include "training/step.hpp"

namespace stagewise {

/// What a batch, or a whole data set, has added up to.
struct Sums {
  Totals totals;
  std::int64_t samples = 0;
};

/// The processes of a training, of which each knows its own number, its rank. This one is alone;
/// a stage that has several brings its own.
///
/// What is not const waits for the other ranks: all must call it, in the same order.
class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// From 0 on. Rank 0 prints and writes files.
  virtual int rank() const { return 0; }

  /// How many there are.
  virtual int count() const { return 1; }

  /// The data for training. A rank may get outlines only; see Dataset::outline().
  /// @throws as load_for_training().
  virtual Split load_for_training(const DatasetOptions& options) {
    return stagewise::load_for_training(options);
  }

  /// The data for evaluation, likewise.
  /// @throws as load_for_evaluation().
  virtual Dataset load_for_evaluation(const DatasetOptions& options,
                                      const std::optional<TableEncoding>& encoding) {
    return stagewise::load_for_evaluation(options, encoding);
  }

  /// Rank 0's text, on every rank.
  virtual std::string of_first(const std::string& own) { return own; }

  /// Makes sure that every rank has read the same.
  /// @param what as in "the checkpoint model.h5".
  /// @param digest of what this rank has read.
  /// @throws Error if another rank's digest is another.
  virtual void expect_same([[maybe_unused]] const std::string& what,
                           [[maybe_unused]] std::uint64_t digest) {}

  /// This rank's part of a data set that one of the two has returned, for evaluation.
  /// @param storage where the part is kept, if it is not the whole.
  virtual const Dataset& shard(const Dataset& whole, [[maybe_unused]] Dataset& storage) {
    return whole;
  }

  /// The sums over all ranks, the same bits on each.
  virtual Sums sum(const Sums& own) { return own; }

  /// The largest of all ranks' numbers.
  virtual double largest(double own) { return own; }
};

}  // namespace stagewise
