#include "check_mpi.hpp"

#include EXERCISE_FILE

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
  for (const int number : samples) result += say(result.empty() ? "" : ", ", number);
  return result;
}

void check_means(const Shares& samples) {
  for (const int size : {1, 7, 1000}) {
    begin_case("For ranks with " + list(samples) + " samples",
               "is there a rank, such as one without samples, that does not take part in the "
               "operation of the others?");
    double all_samples = 0;
    std::vector<float> expected(size);
    for (int r = 0; r < ranks(); ++r) {
      all_samples += samples[r];
      const std::vector<float> part = gradient_of(r, size, samples);
      for (int i = 0; i < size; ++i) expected[i] += static_cast<float>(samples[r]) * part[i];
    }
    for (float& value : expected) value /= static_cast<float>(all_samples);

    std::vector<float> gradient = gradient_of(rank(), size, samples);
    mean_gradient(gradient, samples[rank()]);
    expect(gradient.size() == expected.size(), who(), ": the gradient has ",
           several(gradient.size(), "element"), " instead of ", size, ".");
    expect_equal(gradient, expected, who(), 0, 1e-5);
    expect_one_collective(" if the number of samples travels with the gradient");
  }
}

}  // namespace

void check() {
  Shares equal(ranks(), 10);
  check_means(equal);

  Shares unequal;
  for (int r = 0; r < ranks(); ++r) unequal.push_back(3 * r + 1);
  check_means(unequal);

  Shares with_none(ranks(), 0);
  with_none.back() = 5;
  check_means(with_none);
  pass_on_all("the mean is right for equal and unequal numbers of samples, by one operation");
}

}  // namespace exercise
