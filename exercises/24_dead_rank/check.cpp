#include "check_mpi.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// Returns when all ranks have got here. Its messages have a tag of their own: a barrier could meet
/// the collective operation in which another rank still waits.
void wait_for_all() {
  for (int step = 1; step < ranks(); ++step) {
    char token = 0;
    char other = 0;
    PMPI_Sendrecv(&token, 1, MPI_CHAR, (rank() + step) % ranks(), 99, &other, 1, MPI_CHAR,
                  (rank() + ranks() - step) % ranks(), 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// @param bad_ranks those whose pixel in the middle is `bad_pixel`
void check_mean(const std::vector<int>& bad_ranks, float bad_pixel, int size) {
  double sum = 0;
  double count = 0;
  std::vector<float> pixels;
  for (int r = 0; r < ranks(); ++r) {
    std::vector<float> part = numbers(size + r, 1 + r);
    for (float& pixel : part) sum += pixel = 8 * (pixel + 2);
    count += size + r;
    if (r == rank()) pixels = part;
  }
  std::string bad;
  bool mine_is_bad = false;
  for (const int r : bad_ranks) {
    bad += say(bad.empty() ? "rank " : " and rank ", r);
    if (r != rank()) continue;
    pixels[pixels.size() / 2] = bad_pixel;
    mine_is_bad = true;
  }

  if (bad_ranks.empty()) {
    begin_case("With good pixels on all ranks", "do all ranks take part in the same operations?");
  } else {
    begin_case("With a bad pixel on " + bad,
               "a rank has found its data bad and returned, while others wait for it in a "
               "collective operation.");
  }
  float mean = -1;
  const bool good = mean_of_all(pixels, mean);
  const Messages took = messages;
  wait_for_all();

  if (bad_ranks.empty()) {
    expect(good, who(), " returns false, although all pixels of all ranks are good.");
    const double expected = sum / count;
    expect(mean >= expected - 1e-4 && mean <= expected + 1e-4, who(), " computes the mean ", mean,
           " of good pixels instead of ", expected, ".");
  } else {
    expect(!good, who(), " returns true, although ", bad, " has found the bad pixel ", bad_pixel,
           ".");
    expect(mean == -1, who(), " has changed the mean to ", mean, ", although ", bad,
           " has a bad pixel.");
  }
  expect(took.collectives <= 2, who(), " takes part in ",
         several(took.collectives, "collective operation"), "; two are enough.");
  expect(mine_is_bad || took.sent == 0, who(), " sends ", several(took.sent, "message"),
         " by itself; an operation of all ranks tells them what any has found.");
}

}  // namespace

void check() {
  for (const int size : {1, 10, 501}) check_mean({}, 0, size);
  for (const int size : {1, 10, 501}) check_mean({ranks() - 1}, -1, size);
  check_mean({0}, 256, 5);
  check_mean({0}, NAN, 5);
  if (ranks() > 2) check_mean({0, 1}, -0.5F, 7);
  check_mean({}, 0, 3);
  pass_on_all("all ranks return the mean, or false if one has a bad pixel");
}

}  // namespace exercise
