/// @file
/// For programs that name CUDA's backend, which is the C++ one here.
#pragma once

#include <thrust/system/cpp/memory.h>

THRUST_NAMESPACE_BEGIN
namespace cuda {
using thrust::system::cpp::allocator;
using thrust::system::cpp::pointer;
}  // namespace cuda
THRUST_NAMESPACE_END
