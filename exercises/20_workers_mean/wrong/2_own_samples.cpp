// expect: results are wrong
#include <vector>

#include <mpi.h>

// Assumes that the others have as many samples.
void mean_gradient(std::vector<float>& gradient, int samples) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (float& value : gradient) value *= static_cast<float>(samples);
  MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
  for (float& value : gradient) value /= static_cast<float>(ranks * samples);
}
