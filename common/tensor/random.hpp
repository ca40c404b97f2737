/// @file
/// The only source of random numbers, which depend only on the seed and on their purpose.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace stagewise {

/// What random numbers are used for. Each purpose has its own stream, so that drawing more for one
/// never shifts another. Reproducible runs depend on these values: never renumber them.
enum class Purpose : std::uint64_t {
  parameters = 1,  ///< initial weights
  shuffle = 2,     ///< the order of samples in an epoch
  training_data = 3,
  test_data = 4,
  test = 5,  ///< data of unit tests
};

/// Random numbers that are the same on every machine and standard library. The engine
/// (`std::mt19937_64`) is fixed by the C++ standard; the standard's *distributions* are not, so the
/// mappings to uniform and normal numbers are implemented here.
class Random {
 public:
  /// A stream determined by the arguments. No state has to be stored to resume training: epoch 7 of
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

/// Shuffles `order` (Fisher and Yates).
void shuffle(std::vector<std::uint32_t>& order, Random& random);

}  // namespace stagewise
