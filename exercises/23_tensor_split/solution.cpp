#include <algorithm>
#include <vector>

#include <mpi.h>

/// The first column of a rank; where the last one ends, for `rank` = `ranks`.
int first_column(int rank, int ranks, int columns) {
  return columns / ranks * rank + std::min(rank, columns % ranks);
}

/// y = x W, of whose columns this rank has some.
std::vector<float> layer(const std::vector<float>& x, const std::vector<float>& own_w, int rows,
                         int inputs, int columns) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  std::vector<int> firsts(ranks + 1);
  for (int r = 0; r <= ranks; ++r) firsts[r] = first_column(r, ranks, columns);
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = rows * (firsts[r + 1] - firsts[r]);
    places[r] = rows * firsts[r];
  }

  const int own = firsts[rank + 1] - firsts[rank];
  std::vector<float> part(rows * own);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < own; ++j) {
      for (int k = 0; k < inputs; ++k) part[i * own + j] += x[i * inputs + k] * own_w[k * own + j];
    }
  }

  std::vector<float> gathered(rows * columns);
  MPI_Allgatherv(part.data(), counts[rank], MPI_FLOAT, gathered.data(), counts.data(),
                 places.data(), MPI_FLOAT, MPI_COMM_WORLD);

  // From parts, one behind the other, to rows with the columns of all.
  std::vector<float> y(rows * columns);
  for (int r = 0; r < ranks; ++r) {
    const int width = firsts[r + 1] - firsts[r];
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < width; ++j) {
        y[i * columns + firsts[r] + j] = gathered[places[r] + i * width + j];
      }
    }
  }
  return y;
}
