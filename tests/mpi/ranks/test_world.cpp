// What the processes tell MPI about the memory that they share. MPI's profiling interface lets a
// program define any of its functions anew, and call the original one by its name with PMPI_.

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

int& epochs_begun() {
  static int count = 0;
  return count;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): as MPI names it
extern "C" int MPI_Win_lock_all(int assertion, MPI_Win window) {
  ++epochs_begun();
  return PMPI_Win_lock_all(assertion, window);
}

namespace stagewise {
namespace {

TEST(World, ReadsTheMemoryOfOthersInAnEpoch) { EXPECT_EQ(epochs_begun(), 1); }

}  // namespace
}  // namespace stagewise
