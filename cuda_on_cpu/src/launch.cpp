/// @file
/// From <<<...>>>, or a kernel's address, to blocks: the checks of a launch, with the limits of a
/// real device, and what cudaFunc... and cudaOccupancy... know about kernels.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cuda_runtime.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

std::mutex attributes_mutex;
/// The dynamic shared memory that cudaFuncSetAttribute() has allowed to kernels.
std::map<const void*, int> allowed_shared;

/// The name without template arguments and namespaces.
std::string base_name(std::string name) {
  // A template's name in the symbols begins with the return type.
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t i = name.find(anonymous); i != std::string::npos; i = name.find(anonymous, i)) {
    name.erase(i, anonymous.size());
  }
  name.erase(std::min(name.find_first_of("<("), name.size()));
  const std::size_t before = name.find_last_of(": ");
  return before == std::string::npos ? name : name.substr(before + 1);
}

/// The dynamic shared memory that the kernel has been allowed; 0 if it has not. A launch knows its
/// kernel by the name in the source, the attribute by the address; where the names do not meet (a
/// launch through a function pointer), what any kernel was allowed is allowed.
std::size_t allowance(const char* kernel) {
  const std::lock_guard lock(attributes_mutex);
  int of_this = 0;
  int of_any = 0;
  const std::string own_name = allowed_shared.empty() ? "" : base_name(kernel);
  for (const auto& [function, bytes] : allowed_shared) {
    of_any = std::max(of_any, bytes);
    if (base_name(function_name(function)) == own_name) of_this = std::max(of_this, bytes);
  }
  return static_cast<std::size_t>(of_this > 0 ? of_this : of_any);
}

/// What is wrong with a launch; nothing unless there is an error.
struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string why;
};

Refusal check(const LaunchConfiguration& launch, std::size_t allowed) {
  const dim3 grid = launch.grid;
  const dim3 block = launch.block;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || std::uint64_t{grid.x} * grid.y * grid.z == 0) {
    return {cudaErrorInvalidConfiguration,
            "the grid is " + to_string(grid) + " and the block " + to_string(block) + ", but no extent may be 0."};
  }
  if (threads > max_threads) {
    return {cudaErrorInvalidConfiguration, "a block of " + to_string(block) + " has " + std::to_string(threads) +
                                               " threads, but at most " + std::to_string(max_threads) +
                                               " are possible."};
  }
  if (block.z > 64) {
    return {cudaErrorInvalidConfiguration,
            "the block is " + to_string(block) + ", but its z extent can be at most 64."};
  }
  if (grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535) {
    return {cudaErrorInvalidConfiguration,
            "the grid is " + to_string(grid) + ", but can be at most (2147483647, 65535, 65535)."};
  }
  if (const std::size_t limit = std::max(default_shared_bytes, allowed); launch.shared > limit) {
    return {cudaErrorInvalidValue, "the launch asks for " + std::to_string(launch.shared) +
                                       " bytes of dynamic shared memory, but the kernel may have " +
                                       std::to_string(limit) + "; cudaFuncSetAttribute() allows more, up to " +
                                       std::to_string(max_shared_bytes) + "."};
  }
  if (launch.cooperative) {
    int blocks = 0;
    occupancy(&blocks, static_cast<int>(threads), launch.shared);
    const auto limit = static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(settings().multiprocessors);
    if (std::uint64_t{grid.x} * grid.y * grid.z > limit) {
      return {cudaErrorCooperativeLaunchTooLarge, "a cooperative grid of " + to_string(grid) + " blocks of " +
                                                      std::to_string(threads) + " threads is too large: at most " +
                                                      std::to_string(limit) + " such blocks can run at the same time."};
    }
  }
  return {};
}

/// Of a kernel that has __launch_bounds__, the number of threads.
Refusal check_bound(const LaunchConfiguration& launch, const KernelCall& call) {
  if (!launch.bounded) return {};
  unsigned bound = ~0U;
  asked_bound = &bound;
  call.run_thread();  // which is over at once
  asked_bound = nullptr;
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  if (threads <= bound) return {};
  return {cudaErrorInvalidValue, "a block of " + to_string(launch.block) + " has " + std::to_string(threads) +
                                     " threads, but the kernel's __launch_bounds__ allow " + std::to_string(bound) +
                                     "."};
}

/// What kernels have launched and waits for its turn; null while no kernel of this thread runs.
thread_local std::deque<Work>* launched = nullptr;

/// Runs what the threads of a grid have launched, and what that launches: its children before all that waits.
void run_children(RunningLaunch& parent) {
  std::deque<Work> waiting;
  const bool is_outermost = launched == nullptr;
  if (is_outermost) launched = &waiting;
  launched->insert(launched->begin(), parent.tail.begin(), parent.tail.end());
  launched->insert(launched->begin(), parent.children.begin(), parent.children.end());
  if (!is_outermost) return;
  while (!waiting.empty() && sticky_error() == cudaSuccess) {
    const Work work = std::move(waiting.front());
    waiting.pop_front();
    work();
  }
  launched = nullptr;
}

void run_kernel(const char* kernel, const LaunchConfiguration& configuration, std::size_t allowed, Place place,
                const KernelCall& call) {
  Counters& counted = counters();
  ++counted.launches;
  std::optional<WithoutHostMemory> without(std::in_place, kernel, call);
  RunningLaunch launch(kernel, configuration, place, without->call());
  if (launch.blocks * launch.threads > counted.most_threads) {
    counted.most_threads = launch.blocks * launch.threads;
    counted.grid = configuration.grid;
    counted.block = configuration.block;
  }
  launch.allowed_shared = allowed;
  launch.order = settings().thread_order;
  launch.strict = settings().strict_barriers;
  launch.seed = settings().seed + counted.launches;
  if (observer != nullptr) observer->start_launch(launch);
  run(launch);
  if (observer != nullptr) observer->end_launch(launch);
  if (launch.error == cudaSuccess) check_for_overruns(launch);
  if (launch.error != cudaSuccess) set_sticky_error(launch.error);
  without.reset();
  if (!launch.children.empty() || !launch.tail.empty()) run_children(launch);
}

struct Binders {
  std::mutex mutex;
  std::map<const void*, Binder> of;
};
Binders& binders() {
  static auto* const binders = new Binders;
  return *binders;
}

}  // namespace

__thread unsigned* asked_bound = nullptr;

void run_after_grid(cudaStream_t stream, Work work) {
  RunningLaunch& parent = this_worker->launch();
  const std::lock_guard lock(parent.children_mutex);
  (stream == cudaStreamTailLaunch ? parent.tail : parent.children).push_back(std::move(work));
}

cudaError_t launch(const char* kernel, const LaunchConfiguration& configuration, Place place, const KernelCall& call) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::size_t allowed = configuration.shared > 0 ? allowance(kernel) : 0;
  Refusal refusal = check(configuration, allowed);
  if (refusal.error == cudaSuccess) refusal = check_bound(configuration, call);
  if (refusal.error != cudaSuccess) {
    report_at(place, "launch of kernel '" + std::string(kernel) + "': " + refusal.why);
    return record(refusal.error);
  }
  return record(submit(
      configuration.stream, [&] { run_kernel(kernel, configuration, allowed, place, call); },
      [&]() -> Work {
        return [kernel, configuration, allowed, place, kept = std::shared_ptr<const KernelCall>(call.copy())] {
          run_kernel(kernel, configuration, allowed, place, *kept);
        };
      },
      cudaGraphNodeTypeKernel));
}

const char* function_name(const void* function) {
  static std::mutex mutex;
  static std::map<const void*, std::string> names;
  const std::lock_guard lock(mutex);
  std::string& name = names[function];
  if (name.empty()) {
    name = function_at(reinterpret_cast<std::uintptr_t>(function));
    if (name.empty()) name = "(unknown)";
  }
  return name.c_str();
}

cudaError_t occupancy(int* blocks, int threads, std::size_t shared) {
  if (blocks == nullptr) return record(cudaErrorInvalidValue);
  *blocks = 0;
  if (threads <= 0 || threads > static_cast<int>(max_threads)) return record(cudaErrorInvalidValue);
  *blocks = std::min(32, threads_per_multiprocessor / ((threads + 31) / 32 * 32));
  if (shared > 0) {
    *blocks = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(*blocks), max_shared_bytes / shared));
  }
  return cudaSuccess;
}

void note_kernel(const void* kernel, Binder binder) {
  const std::lock_guard lock(binders().mutex);
  binders().of[kernel] = binder;
}

std::shared_ptr<const KernelCall> bind_kernel(const char* call, const void* kernel, void** arguments, Place place) {
  Binder binder = nullptr;
  {
    const std::lock_guard lock(binders().mutex);
    const auto found = binders().of.find(kernel);
    if (found != binders().of.end()) binder = found->second;
  }
  if (binder == nullptr) {
    report_at(place, std::string(call) +
                         ": the types of the arguments are not known; name the kernel itself, not a "
                         "pointer to it.");
    return nullptr;
  }
  return std::shared_ptr<const KernelCall>(binder(kernel, arguments));
}

cudaError_t launch_by_address(const char* call, const void* kernel, const LaunchConfiguration& configuration,
                              void** arguments, Place place) {
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
    if (attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1) {
      return refuse({}, "cudaLaunchKernelEx(): clusters of thread blocks are not modelled here.",
                    cudaErrorNotSupported);
    }
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent) {
      return refuse({}, "cudaLaunchKernelEx(): programmatic events are not modelled here.", cudaErrorNotSupported);
    }
  }
  return cudaSuccess;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaFuncSetAttribute(KernelAddress kernel, cudaFuncAttribute attribute, int value) {
  const void* const function = kernel.address;
  if (function == nullptr) return record(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout && (value < -1 || value > 100)) {
    return record(cudaErrorInvalidValue);
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > max_shared_bytes) {
    return refuse({}, "cudaFuncSetAttribute(): kernel '" + std::string(function_name(function)) + "' is to have " +
                          std::to_string(value) + " bytes of dynamic shared memory, but " +
                          std::to_string(max_shared_bytes) + " are the most a block can have.");
  }
  const std::lock_guard lock(attributes_mutex);
  allowed_shared[function] = value;
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(KernelAddress /*kernel*/, cudaFuncCache /*config*/) { return cudaSuccess; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, KernelAddress kernel) {
  if (attributes == nullptr) return record(cudaErrorInvalidValue);
  if (kernel.address == nullptr) return record(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->preferredShmemCarveout = -1;
  attributes->maxThreadsPerBlock = max_threads;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  const std::lock_guard lock(attributes_mutex);
  const auto found = allowed_shared.find(kernel.address);
  attributes->maxDynamicSharedSizeBytes =
      found != allowed_shared.end() ? found->second : static_cast<int>(default_shared_bytes);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, KernelAddress /*kernel*/, int threads,
                                                          std::size_t shared) {
  return occupancy(blocks, threads, shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* shared, KernelAddress kernel, int blocks,
                                                      int threads) {
  int possible = 0;
  const cudaError_t error = occupancy(&possible, threads, 0);
  if (error != cudaSuccess) return error;
  if (shared == nullptr || blocks <= 0 || blocks > possible) return record(cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, kernel);
  *shared = std::min(static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes),
                     max_shared_bytes / static_cast<unsigned>(blocks));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments, Place place) {
  if (config == nullptr) return record(cudaErrorInvalidValue);
  LaunchConfiguration configuration(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
  const cudaError_t error = heed_attributes(*config, configuration);
  if (error != cudaSuccess) return error;
  return launch_by_address("cudaLaunchKernelExC()", kernel, configuration, arguments, place);
}
