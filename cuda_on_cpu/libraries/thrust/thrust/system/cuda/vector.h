/// @file
/// For programs that name CUDA's backend, which is the C++ one here.
#pragma once

#include <thrust/system/cpp/vector.h>

THRUST_NAMESPACE_BEGIN
namespace cuda {
using thrust::system::cpp::universal_vector;
using thrust::system::cpp::vector;
}  // namespace cuda
THRUST_NAMESPACE_END
