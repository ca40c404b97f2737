/// @file
/// The one source of chance: what is drawn depends only on the seed and on what it is drawn for.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace stagewise {

/// What random numbers are drawn for. Each purpose has a stream of its own, so that drawing more
/// for one never shifts another. The values are part of what makes runs repeatable: never renumber.
enum class Purpose : std::uint64_t {
  parameters = 1,  ///< initial weights
  shuffle = 2,     ///< the order of samples in an epoch
  training_data = 3,
  test_data = 4,
  test = 5,  ///< data of unit tests
};

/// Random numbers that are the same on every machine and standard library. The engine
/// (`std::mt19937_64`) is fixed by the C++ standard; the standard's *distributions* are not, so the
/// mappings to uniform and normal numbers are our own.
class Random {
 public:
  /// A stream named by its arguments. Nothing needs to be stored to continue a training: epoch 7 of
  /// worker 2 draws the same numbers whether or not epochs 1 to 6 ran in this process.
  explicit Random(std::uint64_t seed, Purpose purpose = Purpose::test, std::uint64_t epoch = 0,
                  std::uint64_t worker = 0);

  /// 64 random bits.
  std::uint64_t bits() { return engine_(); }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();

  /// Uniform in [low, high).
  double uniform(double low, double high);

  /// Normally distributed with mean 0 and deviation 1 (Box and Muller, 1958). The last digit may
  /// depend on the C library's log, sin and cos.
  double normal();

  /// Uniform in {0, ..., bound - 1}; `bound` is at least 1. Without the bias of a plain remainder.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::mt19937_64 engine_;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

/// Puts `order` into random order (Fisher and Yates).
void shuffle(std::vector<std::uint32_t>& order, Random& random);

}  // namespace stagewise
