// expect: For ranks with 0, 5 samples, on rank 0
#include <vector>

#include <mpi.h>

// Ranks without samples leave.
void mean_gradient(std::vector<float>& gradient, int samples) {
  if (samples == 0) return;
  for (float& value : gradient) value *= static_cast<float>(samples);
  gradient.push_back(static_cast<float>(samples));
  MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
  const float all_samples = gradient.back();
  gradient.pop_back();
  for (float& value : gradient) value /= all_samples;
}
