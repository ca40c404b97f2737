/// @file
/// The epoch after which a network did best on the validation set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "io/checkpoint.hpp"
#include "io/report.hpp"

namespace stagewise {

/// An epoch, and what the validation set said after it.
struct BestEpoch {
  std::int64_t epoch = 0;
  double loss = 0;
  double accuracy = 0;

  /// Whether another epoch is better: it has a higher accuracy, or the same and a lower loss.
  /// @param report of an epoch with validation.
  bool is_beaten_by(const EpochReport& report) const;
};

/// Adds it to the checkpoint, so that a resumed training knows what is to be beaten: as
/// `best-epoch`, `best-validation-loss` and `best-validation-accuracy`.
void add_best(const BestEpoch& best, std::map<std::string, std::string>& settings);

/// What add_best() has added; empty if there is nothing.
/// @throws Error naming the file if what it says makes no sense.
std::optional<BestEpoch> read_best(const Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace stagewise
