// expect: within 5 seconds
#include <vector>

#include <mpi.h>

/// The mean of the pixels of all ranks.
/// @return on all ranks, false if there are bad ones on any
bool mean_of_all(const std::vector<float>& pixels, float& mean) {
  double sums[] = {0, static_cast<double>(pixels.size())};
  int bad = 0;
  for (const float pixel : pixels) {
    const bool good = pixel >= 0 && pixel <= 255;
    if (!good) bad = 1;
    sums[0] += pixel;
  }
  int bad_anywhere = 0;
  MPI_Reduce(&bad, &bad_anywhere, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (bad_anywhere != 0) return false;  // on rank 0 only
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  mean = static_cast<float>(sums[0] / sums[1]);
  return true;
}
