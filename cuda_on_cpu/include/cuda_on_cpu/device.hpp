/// @file
/// What the emulated devices are like.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

inline constexpr int threads_per_multiprocessor = 2048;

/// Whether there is a device of that number.
bool device_exists(int device);
/// The calling thread's, as cudaSetDevice() chose it.
int current_device();

}  // namespace cuda_on_cpu
