// expect: passes on
#include <algorithm>
#include <vector>

#include <mpi.h>

/// The first column of a rank; where the last one ends, for `rank` = `ranks`.
int first_column(int rank, int ranks, int columns) {
  return columns / ranks * rank + std::min(rank, columns % ranks);
}

// Adds up matrices that are zero but for a rank's own columns.
/// y = x W, of whose columns this rank has some.
std::vector<float> layer(const std::vector<float>& x, const std::vector<float>& own_w, int rows,
                         int inputs, int columns) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int first = first_column(rank, ranks, columns);
  const int own = first_column(rank + 1, ranks, columns) - first;

  std::vector<float> y(rows * columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < own; ++j) {
      for (int k = 0; k < inputs; ++k) {
        y[i * columns + first + j] += x[i * inputs + k] * own_w[k * own + j];
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, y.data(), rows * columns, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return y;
}
