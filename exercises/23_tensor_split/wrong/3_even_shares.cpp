// expect: results are wrong
#include <vector>

#include <mpi.h>

// Takes columns / ranks columns everywhere.
std::vector<float> layer(const std::vector<float>& x, const std::vector<float>& own_w, int rows,
                         int inputs, int columns) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int own = columns / ranks;
  std::vector<float> part(rows * own);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < own; ++j) {
      for (int k = 0; k < inputs; ++k) part[i * own + j] += x[i * inputs + k] * own_w[k * own + j];
    }
  }
  std::vector<float> gathered(rows * own * ranks);
  MPI_Allgather(part.data(), rows * own, MPI_FLOAT, gathered.data(), rows * own, MPI_FLOAT,
                MPI_COMM_WORLD);
  std::vector<float> y(rows * columns);
  for (int r = 0; r < ranks; ++r) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < own; ++j) {
        y[i * columns + r * own + j] = gathered[(r * rows + i) * own + j];
      }
    }
  }
  return y;
}
