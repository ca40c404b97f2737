/// @file
/// Found instead of Thrust's header of this name: the policies of the C++ backend, and those of CUDA's, which take a
/// stream.
#pragma once

#include <driver_types.h>
#include <thrust/detail/allocator_aware_execution_policy.h>
#include <thrust/detail/config.h>
#include <thrust/system/cpp/detail/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

struct par_t : execution_policy<par_t>, thrust::detail::allocator_aware_execution_policy<execution_policy> {
  constexpr par_t() = default;

  cudaStream_t cuda_on_cpu_stream = nullptr;

  /// In a stream.
  par_t on(cudaStream_t stream) const {
    par_t policy;
    policy.cuda_on_cpu_stream = stream;
    return policy;
  }
};

}  // namespace detail

inline constexpr detail::par_t par;

}  // namespace cpp
}  // namespace system

namespace cpp {
using thrust::system::cpp::par;
}  // namespace cpp

namespace cuda {
using thrust::system::cpp::par;
inline constexpr thrust::system::cpp::detail::par_t par_nosync;
template <class Policy>
using execution_policy = thrust::system::cpp::detail::execution_policy<Policy>;
using tag = thrust::system::cpp::detail::tag;
}  // namespace cuda
namespace system {
namespace cuda {
using thrust::cuda::execution_policy;
using thrust::cuda::par;
using thrust::cuda::tag;
}  // namespace cuda
}  // namespace system
THRUST_NAMESPACE_END
