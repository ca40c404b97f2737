/// @file
/// Report 000's grading modes. 1 to 3: is the parallel training right? 4: is the matrix product
/// right, and how fast is it?
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/data_sets/load.hpp"
#include "mpi/devices.hpp"
#include "mpi/mpi_ranks.hpp"

namespace stagewise::grading {

/// What to train, and how.
struct GradeOptions {
  int mode = 0;
  DatasetOptions data = {.name = "mnist", .validation = 6000};
  Index hidden = 100;
  Index batch_size = 800;
  std::int64_t epochs = 0;  ///< 0: the mode's
  std::string strategy = "data";
  int tensor_ranks = 0;  ///< with hybrid: the ranks that divide a network
  std::string transport = "auto";
  std::filesystem::path sequential;  ///< checkpoint of stage 01's training; empty: train it now
};

/// Trains the same network in parallel and by stage 01's loops, compares every parameter, and
/// prints a table like the report's table 1.
/// @return 0 if all agree to 1e-7, else 1; the same on every rank.
/// @throws UsageError if the processes cannot share the work; Error for problems with files.
int grade_training(const GradeOptions& options, mpi::World& world, mpi::MpiRanks& ranks,
                   const mpi::Placement& placement);

/// Computes the report's two products, C = 2 A B + 5 C in double, by the kernel that training uses,
/// compares each with cuBLAS or, without cuBLAS, with stage 01's result, and prints a table.
/// @return 0 if both agree to 1e-7, else 1.
int grade_gemm();

}  // namespace stagewise::grading
