// expect: rank . of 3 sent to rank .; in a ring, each rank sends only to the next one
#include <vector>

#include <mpi.h>

// Each rank exchanges its chunks with all others, without a ring.
void ring_all_reduce(std::vector<float>& data) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long n = static_cast<long>(data.size());
  const auto begin = [&](int chunk) { return static_cast<int>(chunk * n / ranks); };
  const auto size = [&](int chunk) { return begin(chunk + 1) - begin(chunk); };
  const std::vector<float> own = data;
  std::vector<float> buffer(n / ranks + 1);
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks;
    const int from = (rank + ranks - step) % ranks;
    MPI_Sendrecv(own.data() + begin(to), size(to), MPI_FLOAT, to, 0, buffer.data(), size(rank),
                 MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < size(rank); ++i) data[begin(rank) + i] += buffer[i];
  }
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks;
    const int from = (rank + ranks - step) % ranks;
    MPI_Sendrecv(data.data() + begin(rank), size(rank), MPI_FLOAT, to, 0, data.data() + begin(from),
                 size(from), MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
