/// @file
/// The subcommands: ladders, each of which runs the rungs at a given size, verifies each against
/// stage 01 and times it, and programs of stages with other kernels.
#pragma once

#include "cuda/device.hpp"
#include "ladders/program/options.hpp"
#include "ladders/program/results.hpp"

namespace stagewise::mpi {
class World;
}  // namespace stagewise::mpi

namespace stagewise {

/// @name Programs of stages with other kernels: they have train, evaluate, predict and info
/// @param argc,argv the command line, beginning with the subcommand.
/// @return the exit code.
/// @{
int run_blocked(int argc, char** argv);     ///< stage 01's, with a blocked product
int run_rungs(int argc, char** argv);       ///< stage 03's, with every rung of the ladders
int run_tf32(int argc, char** argv);        ///< stage 04's, with convolutions in TF32
int run_persistent(int argc, char** argv);  ///< stage 04's, with kernels that stay on the GPU
/// @}

}  // namespace stagewise

namespace stagewise::ladder {

/// C = alpha op(A) op(B) + beta C at sizes m, n, k; the reference is cuBLAS.
struct GemmOptions : Options {
  Index m = cuda::runs_on_cpu() ? 80 : 800;    // CUDA on the CPU takes minutes for what a GPU
  Index n = cuda::runs_on_cpu() ? 100 : 1000;  // does in microseconds
  Index k = cuda::runs_on_cpu() ? 78 : 784;
  double alpha = 1;
  double beta = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  bool picked = false;         ///< only the rung that stage 03 picks
  std::string cublas = "own";  ///< the reference's arithmetic: own, tf32 or bf16
  bool tiles = false;          ///< in place of the rungs, the tiles from which the top rung picks
};

/// The sum of n numbers, with CUB as the reference; or, given m, the sums of the n columns of an
/// [m, n] matrix, with a copy of as many bytes as the reference.
struct ReduceOptions : Options {
  Index m = 0;  ///< 0: not given
  Index n = 0;  ///< 0: not given
};

/// The transpose of an [m, n] matrix, and the column of ones of report 003; the reference is a
/// copy.
struct TransposeOptions : Options {
  Index m = 2048;
  Index n = 2048;
};

/// A convolution of square images with square filters, and the layer that it begins, with bias,
/// relu and pooling in windows of 2 x 2; without a reference. The defaults are the first layer of
/// report 001's network.
struct ConvolutionOptions : Options {
  Index images = 10;
  Index size = 28;
  Index channels = 1;
  Index filter = 5;
  Index filters = 32;
};

/// The sum of a message over all processes, on the GPU of each; the reference is NCCL.
struct AllReduceOptions : Options {
  Index bytes = 0;  ///< of a message; 0: several sizes
};

/// Declares the options of a subcommand.
/// @param options receives their values.
void declare(CLI::App& command, GemmOptions& options);
/// @overload
void declare(CLI::App& command, ReduceOptions& options);
/// @overload
void declare(CLI::App& command, TransposeOptions& options);
/// @overload
void declare(CLI::App& command, ConvolutionOptions& options);
/// @overload
void declare(CLI::App& command, AllReduceOptions& options);

/// Runs the requested rungs, and prints each when it is done.
/// @throws Error if the problem does not fit into the memory of the GPU or the host, or if the only
///         requested rung cannot be used. UsageError if there is no such rung in this precision, or
///         if a filter is larger than the image.
Results run(const GemmOptions& options);
/// @overload
Results run(const ReduceOptions& options);
/// @overload
Results run(const TransposeOptions& options);
/// @overload
Results run(const ConvolutionOptions& options);

/// The same in several processes. Waits for the other ranks.
/// @throws Error if the only requested rung cannot be used. UsageError if there is one process
///         only, or if the message's size is no multiple of a number's.
Results run(const AllReduceOptions& options, mpi::World& world);

}  // namespace stagewise::ladder
