#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

/// How many samples each rank has.
using Shares = std::vector<int>;

std::vector<float> gradient_of(int rank, int size, const Shares& samples) {
  if (samples[rank] == 0) return std::vector<float>(size);
  return numbers(size, 1 + rank);
}

/// "4, 0, 3".
std::string list(const Shares& samples) {
  std::string result;
  for (const int number : samples) result += (result.empty() ? "" : ", ") + std::to_string(number);
  return result;
}

void check_means(const Shares& samples) {
  begin_case("For ranks with " + list(samples) + " samples",
             "is there a rank, such as one without samples, that does not take part in the "
             "operation of the others?");
  for (const int size : {1, 7, 1000}) {
    double all_samples = 0;
    std::vector<float> expected(size);
    for (int r = 0; r < ranks(); ++r) {
      all_samples += samples[r];
      const std::vector<float> part = gradient_of(r, size, samples);
      for (int i = 0; i < size; ++i) expected[i] += static_cast<float>(samples[r]) * part[i];
    }
    for (float& value : expected) value /= static_cast<float>(all_samples);

    std::vector<float> gradient = gradient_of(rank(), size, samples);
    messages = {};
    mean_gradient(gradient, samples[rank()]);
    const std::string what = "For ranks with " + list(samples) + " samples, " + here();
    expect(gradient.size() == expected.size(), what + ", the gradient has " +
                                                   counted(gradient.size(), "element") +
                                                   " instead of " + std::to_string(size) + ".");
    expect_equal(gradient, expected, what, 0, 1e-5);
    const std::string takes = "Rank " + std::to_string(rank()) + " of " + std::to_string(ranks());
    expect(messages.sent == 0, takes + " sends " + counted(messages.sent, "message") +
                                   " by itself; a collective operation does all that is needed.");
    expect(messages.collectives == 1,
           takes + " takes part in " + counted(messages.collectives, "collective operation") +
               " in a call; one is enough if the number of samples travels with the gradient.");
  }
}

void check_all() {
  Shares equal(ranks(), 10);
  check_means(equal);

  Shares unequal;
  for (int r = 0; r < ranks(); ++r) unequal.push_back(3 * r + 1);
  check_means(unequal);

  Shares with_none(ranks(), 0);
  with_none.back() = 5;
  check_means(with_none);
  pass("the mean is right for equal and unequal numbers of samples, by one operation");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}
