#include <vector>

#include <mpi.h>

/// Replaces the mean over this rank's samples by the mean over those of all ranks. The number of
/// samples travels as one more element, so that a single operation adds up both.
void mean_gradient(std::vector<float>& gradient, int samples) {
  for (float& value : gradient) value *= static_cast<float>(samples);
  gradient.push_back(static_cast<float>(samples));
  MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
  const float all_samples = gradient.back();
  gradient.pop_back();
  for (float& value : gradient) value /= all_samples;
}
