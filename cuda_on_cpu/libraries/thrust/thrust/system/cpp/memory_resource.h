/// @file
/// Found instead of Thrust's header of this name: vectors lie in memory that the CUDA runtime knows.
#pragma once

#include <new>

#include <cuda_on_cpu/libraries.h>
#include <thrust/detail/config.h>
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

/// Memory of the device, managed or not.
template <bool is_managed>
class runtime_resource final : public thrust::mr::memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t /*alignment*/ = THRUST_MR_DEFAULT_ALIGNMENT) override {
    void* const pointer = ::cuda_on_cpu::allocate_for_library(bytes, is_managed);
    if (pointer == nullptr && bytes > 0) throw std::bad_alloc();
    return pointer;
  }
  void do_deallocate(void* pointer, std::size_t /*bytes*/,
                     std::size_t /*alignment*/ = THRUST_MR_DEFAULT_ALIGNMENT) override {
    ::cuda_on_cpu::free_for_library(pointer);
  }
};

using native_resource = thrust::mr::fancy_pointer_resource<runtime_resource<false>, thrust::cpp::pointer<void>>;
using universal_native_resource =
    thrust::mr::fancy_pointer_resource<runtime_resource<true>, thrust::cpp::universal_pointer<void>>;

}  // namespace detail

using memory_resource = detail::native_resource;
using universal_memory_resource = detail::universal_native_resource;
using universal_host_pinned_memory_resource = detail::universal_native_resource;

}  // namespace cpp
}  // namespace system

// As programs for GPUs call them.
namespace cuda {
using thrust::system::cpp::memory_resource;
using thrust::system::cpp::universal_host_pinned_memory_resource;
using thrust::system::cpp::universal_memory_resource;
}  // namespace cuda
THRUST_NAMESPACE_END
