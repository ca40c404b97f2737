// expect: takes part in 2 collective operations
#include <vector>

#include <mpi.h>

void mean_gradient(std::vector<float>& gradient, int samples) {
  int all_samples = 0;
  MPI_Allreduce(&samples, &all_samples, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const float weight = static_cast<float>(samples) / static_cast<float>(all_samples);
  for (float& value : gradient) value *= weight;
  MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
}
