// expect: within 5 seconds
#include <vector>

#include <mpi.h>

// Every rank sends before it receives: long messages wait for their receiver.
void ring_all_reduce(std::vector<float>& data) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;

  const long n = static_cast<long>(data.size());
  const auto begin = [&](int chunk) { return static_cast<int>(chunk * n / ranks); };
  const auto size = [&](int chunk) { return begin(chunk + 1) - begin(chunk); };
  const auto chunk = [&](int number) { return (number + 2 * ranks) % ranks; };

  // Reduce-scatter: each chunk collects the ranks' parts on its way.
  std::vector<float> buffer(n / ranks + 1);
  for (int step = 0; step < ranks - 1; ++step) {
    const int sent = chunk(rank - step);
    const int received = chunk(rank - step - 1);
    MPI_Send(data.data() + begin(sent), size(sent), MPI_FLOAT, next, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), size(received), MPI_FLOAT, previous, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    for (int i = 0; i < size(received); ++i) data[begin(received) + i] += buffer[i];
  }
  // All-gather: the chunks of the sum go around.
  for (int step = 0; step < ranks - 1; ++step) {
    const int sent = chunk(rank + 1 - step);
    const int received = chunk(rank - step);
    MPI_Sendrecv(data.data() + begin(sent), size(sent), MPI_FLOAT, next, 0,
                 data.data() + begin(received), size(received), MPI_FLOAT, previous, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
