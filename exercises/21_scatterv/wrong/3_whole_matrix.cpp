// expect: has got 160 bytes, but its rows have only 80
#include <algorithm>
#include <vector>

#include <mpi.h>

// Every rank gets the whole matrix and throws most of it away.
std::vector<float> share_of_rows(const std::vector<float>& matrix, int rows, int columns) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<float> all = matrix;
  all.resize(rows * columns);
  MPI_Bcast(all.data(), rows * columns, MPI_FLOAT, 0, MPI_COMM_WORLD);
  const int begin = rows / ranks * rank + std::min(rank, rows % ranks);
  const int end = rows / ranks * (rank + 1) + std::min(rank + 1, rows % ranks);
  return {all.begin() + begin * columns, all.begin() + end * columns};
}
