#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

void check_sums(int n) {
  begin_case("For " + counted(n, "number"),
             "does every rank receive as many messages as its predecessor sends, and does none "
             "wait until its own has been received?");
  std::vector<float> expected(n);
  for (int r = 0; r < ranks(); ++r) {
    const std::vector<float> part = numbers(n, 1 + r);
    for (int i = 0; i < n; ++i) expected[i] += part[i];
  }
  std::vector<float> data = numbers(n, 1 + rank());
  messages = {};
  ring_all_reduce(data);
  const std::string what = "For " + counted(n, "number") + ", " + here();
  expect(data.size() == expected.size(),
         what + ", the size of the data has changed to " + std::to_string(data.size()) + ".");
  expect_equal(data, expected, what);
  expect(messages.collectives == 0, what + ", " +
                                        counted(messages.collectives, "collective operation") +
                                        " took place; use only messages to the next rank.");
  const std::string sender = "For " + counted(n, "number") + ", rank " + std::to_string(rank()) +
                             " of " + std::to_string(ranks());
  expect(messages.elsewhere < 0,
         sender + " sent to rank " + std::to_string(messages.elsewhere) +
             "; in a ring, each rank sends only to the next one, here rank " +
             std::to_string((rank() + 1) % ranks()) + ".");
  const int steps = 2 * (ranks() - 1);
  expect(messages.sent <= steps, what + ", " + counted(messages.sent, "message") +
                                     " were sent; 2 (p - 1) = " + std::to_string(steps) +
                                     " are enough.");
  const double enough = 4.0 * steps * ((n + ranks() - 1) / ranks());
  expect(messages.sent_bytes <= enough,
         what + ", " + text(messages.sent_bytes) + " bytes were sent; " + text(enough) +
             " are enough if each message is a chunk of at most ceil(n / p) numbers.");
}

void check_all() {
  for (const int n : {4, 12, 600}) check_sums(n);
  for (const int n : {5, 7, 1001}) check_sums(n);
  for (const int n : {1, 2, 3}) check_sums(n);
  check_sums(50001);
  pass("the sums are right for ten sizes, and each rank sends at most 2 (p - 1) chunks");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}
