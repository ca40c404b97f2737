#include "check_mpi.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

void check_sums(int n) {
  begin_case("For " + several(n, "number"),
             "does every rank receive as many messages as its predecessor sends, and does none "
             "wait until its own has been received?");
  std::vector<float> expected(n);
  for (int r = 0; r < ranks(); ++r) {
    const std::vector<float> part = numbers(n, 1 + r);
    for (int i = 0; i < n; ++i) expected[i] += part[i];
  }
  std::vector<float> data = numbers(n, 1 + rank());
  ring_all_reduce(data);
  expect(data.size() == expected.size(), who(), ": the size of the data has changed to ",
         data.size(), ".");
  expect_equal(data, expected, who());
  expect(messages.collectives == 0, who(), " takes part in ",
         several(messages.collectives, "collective operation"),
         "; use only messages to the next rank.");
  expect(messages.elsewhere < 0, who(), " sent to rank ", messages.elsewhere,
         "; in a ring, each rank sends only to the next one, here rank ", (rank() + 1) % ranks(),
         ".");
  const int steps = 2 * (ranks() - 1);
  expect(messages.sent <= steps, who(), " sent ", several(messages.sent, "message"),
         "; 2 (p - 1) = ", steps, " are enough.");
  const double enough = 4.0 * steps * ((n + ranks() - 1) / ranks());
  expect(messages.sent_bytes <= enough, who(), " sent ", messages.sent_bytes, " bytes; ", enough,
         " are enough if each message is a chunk of at most ceil(n / p) numbers.");
}

}  // namespace

void check() {
  for (const int n : {4, 12, 600, 5, 7, 1001, 1, 2, 3, 50001}) check_sums(n);
  pass_on_all("the sums are right for ten sizes, and each rank sends at most 2 (p - 1) chunks");
}

}  // namespace exercise
