#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

void check_share(int rows, int columns) {
  begin_case("For " + std::to_string(rows) + " x " + std::to_string(columns) + " numbers",
             "do all ranks take part in the operation, also those that get no rows?");
  const std::vector<float> matrix = numbers(rows * columns);
  const int share = rows / ranks();
  const int begin = share * rank() + std::min(rank(), rows % ranks());
  const int own_rows = share + (rank() < rows % ranks() ? 1 : 0);
  const std::vector<float> expected(matrix.begin() + begin * columns,
                                    matrix.begin() + (begin + own_rows) * columns);

  messages = {};
  const std::vector<float> got =
      share_of_rows(rank() == 0 ? matrix : std::vector<float>(), rows, columns);
  const std::string what =
      "Of " + std::to_string(rows) + " x " + std::to_string(columns) + " numbers, ";
  expect(got.size() == expected.size(),
         what + "rank " + std::to_string(rank()) + " of " + std::to_string(ranks()) +
             " should get " + counted(own_rows, "row") + ", that is " +
             counted(expected.size(), "number") + ", but the result has " +
             std::to_string(got.size()) + ".");
  PMPI_Barrier(MPI_COMM_WORLD);  // a share of a wrong size is the first thing to say
  expect_equal(got, expected, what + here(), columns);
  const std::string takes =
      what + "rank " + std::to_string(rank()) + " of " + std::to_string(ranks()) + " ";
  expect(messages.sent == 0, takes + "sends " + counted(messages.sent, "message") +
                                 " by itself; one collective operation gives each rank its rows.");
  expect(messages.collectives == 1,
         takes + "takes part in " + counted(messages.collectives, "collective operation") +
             "; one is enough, since every rank can compute all shares.");
  const double bytes = static_cast<double>(expected.size() * sizeof(float));
  expect(rank() == 0 || messages.got_bytes <= bytes, takes + "has got " + text(messages.got_bytes) +
                                                         " bytes, but its rows have only " +
                                                         text(bytes) + ".");
}

void check_all() {
  check_share(8, 5);
  check_share(27, 7);
  check_share(5, 1);
  check_share(1001, 3);
  check_share(3, 11);
  check_share(1, 4);
  pass("the shares are right for six sizes, also for fewer rows than ranks");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}
