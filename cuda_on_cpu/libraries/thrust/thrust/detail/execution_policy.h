/// @file
/// Found instead of Thrust's header of this name, whose interface it has. Each algorithm asks for the policy's own type
/// when it begins: the place to wait for the kernels before it, and to let it access device memory.
#pragma once

#include <cuda_on_cpu/libraries.h>
#include <thrust/detail/config.h>

THRUST_NAMESPACE_BEGIN
namespace detail {

/// The base of all policies.
struct execution_policy_marker {};

/// What the algorithms' entries take.
template <class Policy>
struct execution_policy_base : execution_policy_marker {};

/// Of policies that were made by on(), the stream. References to elements have a policy that is not there, which the
/// compiler is not to know.
template <class Policy>
auto stream_of(const Policy& policy, int /*preferred*/) -> decltype(policy.cuda_on_cpu_stream) {
  const Policy* there = &policy;
  asm("" : "+r"(there));
  return there == nullptr ? nullptr : there->cuda_on_cpu_stream;
}
template <class Policy>
cudaStream_t stream_of(const Policy& /*policy*/, long /*otherwise*/) {
  return nullptr;
}

template <class Policy>
constexpr execution_policy_base<Policy>& strip_const(const execution_policy_base<Policy>& policy) {
  return const_cast<execution_policy_base<Policy>&>(policy);
}

template <class Policy>
constexpr Policy& derived_cast(execution_policy_base<Policy>& policy) {
  auto& derived = static_cast<Policy&>(policy);
  if (!__builtin_is_constant_evaluated()) ::cuda_on_cpu::open_device_memory(stream_of(derived, 0));
  return derived;
}

template <class Policy>
constexpr const Policy& derived_cast(const execution_policy_base<Policy>& policy) {
  return derived_cast(strip_const(policy));
}

}  // namespace detail

/// The base of policies of one's own.
template <class Policy>
struct execution_policy : detail::execution_policy_base<Policy> {};
THRUST_NAMESPACE_END
