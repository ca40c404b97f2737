// What the processes tell MPI about the memory that they share. MPI lets a program put a function
// of its own before any of MPI's, which it then calls by another name.

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

TEST(World, ReadsTheMemoryOfOthersInAnEpoch) {
  EXPECT_EQ(epochs_begun(), 1);
}

}  // namespace
}  // namespace stagewise
