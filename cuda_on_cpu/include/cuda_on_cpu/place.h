/// @file
/// Where the program calls a function: the last parameter of those that can fail there.
#pragma once

namespace cuda_on_cpu {

/// A line of the original source.
struct Place {
  const char* file;
  unsigned line;
};

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_HERE ::cuda_on_cpu::Place place = {__builtin_FILE(), __builtin_LINE()}
