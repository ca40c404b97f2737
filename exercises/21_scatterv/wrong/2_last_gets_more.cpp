// expect: should get .* but
#include <vector>

#include <mpi.h>

// The last rank gets all that is left over.
std::vector<float> share_of_rows(const std::vector<float>& matrix, int rows, int columns) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  int place = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = rows / ranks * columns;
    if (r == ranks - 1) counts[r] = rows * columns - place;
    places[r] = place;
    place += counts[r];
  }
  std::vector<float> mine(counts[rank]);
  MPI_Scatterv(matrix.data(), counts.data(), places.data(), MPI_FLOAT, mine.data(), counts[rank],
               MPI_FLOAT, 0, MPI_COMM_WORLD);
  return mine;
}
