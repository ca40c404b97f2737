/// @file
/// Information about the GPU that the programs run on.
#pragma once

#include <string>
#include <vector>

namespace stagewise::cuda {

/// Whether this build runs kernels through CUDA on the CPU: its times mean nothing about GPUs.
bool runs_on_cpu();

/// @throws Error naming the preset cpu if no GPU can be used.
void require_device();

/// "GPU (NVIDIA H200, 132 multiprocessors, 151 GB)" or "CUDA on the CPU (AMD EPYC)".
/// @throws Error as require_device() does.
std::string describe_device();

// Determined once: a process uses one GPU.

/// The least number of blocks that the current GPU runs at the same time.
int multiprocessors();

/// Bytes of shared memory that a block can have on the current GPU, if its kernel opts in.
int shared_memory_per_block();

/// The current GPU's compute capability, as 90 for 9.0.
int compute_capability();

/// Bytes of the current GPU's L2 cache.
int cache_bytes();

/// Bytes per second between the current GPU's memory and its processors, from the clock that it
/// reports; 0 if it reports none.
double memory_bandwidth();

/// Multiply-adds in float or double that a multiprocessor of this compute capability (90 for 9.0)
/// can start per cycle; in double, this includes tensor cores, which round in the same way. 0 for a
/// GPU that is not listed.
int multiply_adds_per_cycle(int capability, bool in_double);

/// The current GPU's floating-point operations per second, two for each of these multiply-adds.
double peak_operations(bool in_double);

/// "CUDA runtime 13.0, driver for CUDA 13.0".
std::vector<std::string> describe_libraries();

}  // namespace stagewise::cuda
