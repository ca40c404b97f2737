#include <algorithm>

#include "check_mpi.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

void check_share(int rows, int columns) {
  begin_case(say("For ", rows, " x ", columns, " numbers"),
             "do all ranks take part in the operation, also those that get no rows?");
  const std::vector<float> matrix = numbers(rows * columns);
  const int share = rows / ranks();
  const int begin = share * rank() + std::min(rank(), rows % ranks());
  const int own_rows = share + (rank() < rows % ranks() ? 1 : 0);
  const std::vector<float> expected(matrix.begin() + begin * columns,
                                    matrix.begin() + (begin + own_rows) * columns);

  const std::vector<float> got =
      share_of_rows(rank() == 0 ? matrix : std::vector<float>(), rows, columns);
  expect(got.size() == expected.size(), who(), " should get ", several(own_rows, "row"),
         ", that is ", several(expected.size(), "number"), ", but the result has ", got.size(),
         ".");
  PMPI_Barrier(MPI_COMM_WORLD);  // a share of a wrong size is the first thing to say
  expect_equal(got, expected, who(), columns);
  expect_one_collective(", since every rank can compute all shares");
  const double bytes = static_cast<double>(expected.size() * sizeof(float));
  expect(rank() == 0 || messages.got_bytes <= bytes, who(), " has got ", messages.got_bytes,
         " bytes, but its rows have only ", bytes, ".");
}

}  // namespace

void check() {
  const int sizes[][2] = {{8, 5}, {27, 7}, {5, 1}, {1001, 3}, {3, 11}, {1, 4}};
  for (const auto& [rows, columns] : sizes) check_share(rows, columns);
  pass_on_all("the shares are right for six sizes, also for fewer rows than ranks");
}

}  // namespace exercise
