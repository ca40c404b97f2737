#include <vector>

#include <mpi.h>

/// Replaces the mean over this rank's samples by the mean over those of all ranks.
void mean_gradient(std::vector<float>& gradient, int samples) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
  for (float& value : gradient) value /= static_cast<float>(ranks);
}
