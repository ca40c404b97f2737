#include <vector>

#include <mpi.h>

/// This rank's rows of a matrix that is on rank 0.
std::vector<float> share_of_rows(const std::vector<float>& matrix, int rows, int columns) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = rows / ranks * columns;
  std::vector<float> mine(count);
  MPI_Scatter(matrix.data(), count, MPI_FLOAT, mine.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  return mine;
}
