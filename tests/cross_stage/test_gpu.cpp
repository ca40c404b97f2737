// What a stage knows about a GPU and about its own kernels.

#include <vector>

#include <gtest/gtest.h>

#include "cross_stage/early_kernels.hpp"
#include "cuda/device.hpp"

namespace stagewise::cross_stage {
namespace {

/// A GPU with the rates that NVIDIA states for it.
struct Gpu {
  const char* name;
  int capability;
  int multiprocessors;
  double gigahertz;
  double tflops_in_float;
  double tflops_in_double;
};

TEST(PeakOperations, AreThoseOfTheDataSheets) {
  const std::vector<Gpu> gpus = {{"V100", 70, 80, 1.53, 15.7, 7.8},
                                 {"T4", 75, 40, 1.59, 8.1, 0.25},
                                 {"A100", 80, 108, 1.41, 19.5, 19.5},
                                 {"GeForce RTX 3090", 86, 82, 1.695, 35.6, 0.56},
                                 {"GeForce RTX 4090", 89, 128, 2.52, 82.6, 1.29},
                                 {"H100", 90, 132, 1.98, 67, 67},
                                 {"B200", 100, 148, 1.965, 75, 37},
                                 {"B300", 103, 148, 1.965, 75, 1.25},
                                 {"GeForce RTX 5090", 120, 170, 2.407, 104.8, 1.64}};
  for (const Gpu& gpu : gpus) {
    const double starts_per_second = gpu.multiprocessors * gpu.gigahertz * 1e-3;
    for (const bool in_double : {false, true}) {
      const double stated = in_double ? gpu.tflops_in_double : gpu.tflops_in_float;
      const double found = 2 * starts_per_second * cuda::multiply_adds_per_cycle(gpu.capability, in_double);
      EXPECT_NEAR(found, stated, 0.1 * stated) << gpu.name << (in_double ? ", double" : ", float");
    }
  }
  EXPECT_EQ(cuda::multiply_adds_per_cycle(50, false), 0) << "not listed";
}

/// The first kernel that is asked about must not decide for others with the same parameters.
TEST(EarlyLaunch, IsDecidedForEachKernel) {
  EXPECT_TRUE(new_kernel_starts_early());
  EXPECT_FALSE(old_kernel_starts_early());
  EXPECT_FALSE(new_kernel_starts_early_in_order());
}

}  // namespace
}  // namespace stagewise::cross_stage
