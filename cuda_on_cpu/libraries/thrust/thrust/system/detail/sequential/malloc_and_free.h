/// @file
/// Found instead of Thrust's header of this name: device_malloc() and temporary memory.
#pragma once

#include <cstdlib>

#include <cuda_on_cpu/libraries.h>
#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
namespace sequential {

template <class Policy>
void* malloc(execution_policy<Policy>& /*policy*/, std::size_t bytes) {
  return ::cuda_on_cpu::allocate_for_library(bytes, false);
}

template <class Policy, class Pointer>
void free(execution_policy<Policy>& /*policy*/, Pointer pointer) {
  ::cuda_on_cpu::free_for_library(thrust::raw_pointer_cast(pointer));
}

}  // namespace sequential
}  // namespace detail
}  // namespace system
THRUST_NAMESPACE_END
