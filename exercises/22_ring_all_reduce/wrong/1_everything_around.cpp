// expect: are enough if
#include <vector>

#include <mpi.h>

// Every rank's data travel around as a whole.
void ring_all_reduce(std::vector<float>& data) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = static_cast<int>(data.size());
  std::vector<float> travelling = data;
  for (int step = 0; step < ranks - 1; ++step) {
    MPI_Sendrecv_replace(travelling.data(), count, MPI_FLOAT, (rank + 1) % ranks, 0,
                         (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) data[i] += travelling[i];
  }
}
