#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

void check_sums(int n) {
  limit_time(8,
             "It has not ended after 8 seconds: does every rank receive as many messages as its "
             "predecessor sends, and does none wait until its own has been received?");
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
  expect(messages.collectives == 0,
         what + ", " + counted(messages.collectives, "collective operation") +
             " took place; messages to the next rank are to do all the work.");
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
  pass("the sums are right for sizes that most numbers of ranks divide");
  for (const int n : {5, 7, 1001}) check_sums(n);
  pass("the sums are right for other sizes");
  for (const int n : {1, 2, 3}) check_sums(n);
  pass("the sums are right for sizes below the number of ranks");
  check_sums(50001);
  pass("no rank sends more than 2 (p - 1) chunks");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}
