#include <vector>

#include <mpi.h>

/// Adds up the data of all ranks, on each of them, by messages to the next rank of a ring.
void ring_all_reduce(std::vector<float>& data) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;

  for (int step = 0; step < ranks - 1; ++step) {
    // Reduce-scatter: send a chunk on, add the one that arrives.
  }
  for (int step = 0; step < ranks - 1; ++step) {
    // All-gather: send a chunk on, keep the one that arrives.
  }
}
