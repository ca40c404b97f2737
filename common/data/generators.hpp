/// @file
/// Data sets that are computed, not read: nothing to download, and the same on every machine.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "tensor/random.hpp"

namespace stagewise {

/// The default seed of generated data. It is not `--seed`: training with another seed should use
/// the same data.
inline constexpr std::uint64_t generated_data_seed = 1;

/// The default number of samples of a generated data set.
struct GeneratedSizes {
  Index train;
  Index test;
};

inline constexpr GeneratedSizes digits_sizes = {10000, 2000};

/// Enough for the neuron of report 003 to learn the step with the default options: 5 epochs,
/// batches of 100, learning rate 0.1. With 10,000 samples, it has not converged when training ends.
inline constexpr GeneratedSizes step_sizes = {100000, 10000};

/// Handwriting-like digits: 28x28 grey images drawn from strokes with random shift, rotation,
/// shear, size, thickness and noise. Image `i` depends on `seed`, `purpose` and `i` only, so the
/// first N images of a larger set are the same as a set of N. Which digit an image shows is random,
/// too.
/// @param count number of images, at least 0.
/// @param purpose Purpose::training_data or Purpose::test_data: two sets that share no image.
/// @return samples of shape [28, 28, 1], 10 classes.
Dataset make_digits(Index count, std::uint64_t seed, Purpose purpose);

/// The step function of report 003: x is drawn uniformly from [0, 1), its class is 1 where
/// x >= 0.5 and 0 elsewhere.
/// @return samples of shape [1], 2 classes. Parameters as for make_digits().
Dataset make_step(Index count, std::uint64_t seed, Purpose purpose);

/// The parameters of `--dataset gaussian`.
struct GaussianOptions {
  Index features = 10;   ///< `--features`
  int classes = 2;       ///< `--classes`
  Index samples = 1000;  ///< `--samples`: of the training set; the test set has a fifth of that
  double spacing = 1;    ///< `--spacing`: between the means of neighbouring classes
  double deviation = 1;  ///< `--deviation`: of every feature around its class's mean

  GeneratedSizes sizes() const { return {samples, samples < 5 ? 1 : samples / 5}; }
};

/// @throws UsageError naming the option whose value is out of range.
void check(const GaussianOptions& options);

/// The data sets of report 004 (section 4.1), of any size at the same difficulty: every feature of
/// a sample of class c is drawn from the normal distribution of mean c * spacing. Sample `i` is of
/// class `i` modulo the number of classes, so that all are equally frequent.
/// @param options all but `samples`, which `count` replaces.
/// @return samples of shape [features]. Other parameters as for make_digits().
/// @throws UsageError as check() does.
Dataset make_gaussian(const GaussianOptions& options, Index count, std::uint64_t seed, Purpose purpose);

}  // namespace stagewise
