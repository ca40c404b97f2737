/// @file
/// Kernels that are launched by their address.
#include <map>
#include <mutex>
#include <string>

#include <cuda_runtime.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/graph.hpp"

namespace cuda_on_cpu {
namespace {

struct Binders {
  std::mutex mutex;
  std::map<const void*, Binder> of;
};
Binders& binders() {
  static auto* const binders = new Binders;
  return *binders;
}

}  // namespace

void note_kernel(const void* kernel, Binder binder) {
  const std::lock_guard lock(binders().mutex);
  binders().of[kernel] = binder;
}

std::shared_ptr<const KernelCall> bind_kernel(const char* call, const void* kernel,
                                              void** arguments, Place place) {
  Binder binder = nullptr;
  {
    const std::lock_guard lock(binders().mutex);
    const auto found = binders().of.find(kernel);
    if (found != binders().of.end()) binder = found->second;
  }
  if (binder == nullptr) {
    report_at(place,
              std::string(call) +
                  ": the types of the arguments are not known; name the kernel itself, not a "
                  "pointer to it.");
    return nullptr;
  }
  return std::shared_ptr<const KernelCall>(binder(kernel, arguments));
}

cudaError_t launch_by_address(const char* call, const void* kernel,
                              const LaunchConfiguration& configuration, void** arguments,
                              Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<const KernelCall> bound = bind_kernel(call, kernel, arguments, place);
  if (bound == nullptr) return record(cudaErrorInvalidDeviceFunction);
  return launch(function_name(kernel), configuration, place, *bound);
}

cudaError_t heed_attributes(const cudaLaunchConfig_t& config, LaunchConfiguration& configuration) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      configuration.cooperative = attribute.val.cooperative != 0;
    }
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension &&
        cluster.x * cluster.y * cluster.z > 1) {
      return refuse({}, "cudaLaunchKernelEx(): clusters of thread blocks are not modelled here.",
                    cudaErrorNotSupported);
    }
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent) {
      return refuse({}, "cudaLaunchKernelEx(): programmatic events are not modelled here.",
                    cudaErrorNotSupported);
    }
  }
  return cudaSuccess;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments, Place place) {
  if (config == nullptr) return record(cudaErrorInvalidValue);
  LaunchConfiguration configuration(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                    config->stream);
  const cudaError_t error = heed_attributes(*config, configuration);
  if (error != cudaSuccess) return error;
  return launch_by_address("cudaLaunchKernelExC()", kernel, configuration, arguments, place);
}
