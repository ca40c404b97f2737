#include "03_shared_memory/dependent_launch.cuh"
#include "cross_stage/early_kernels.hpp"

namespace stagewise::cross_stage {
namespace {

struct Nothing {};

__global__ void new_kernel(Nothing /*nothing*/) {}
__global__ void old_kernel(Nothing /*nothing*/) {}

/// Instead of shared_memory::compiled_for(), for kernels with such a parameter.
int compiled_for(void (*kernel)(Nothing)) { return kernel == old_kernel ? 80 : 90; }

using shared_memory::Start;
using shared_memory::starts_early;

}  // namespace

bool new_kernel_starts_early() { return starts_early<Start::early, new_kernel>(); }

bool old_kernel_starts_early() { return starts_early<Start::early, old_kernel>(); }

bool new_kernel_starts_early_in_order() { return starts_early<Start::in_order, new_kernel>(); }

}  // namespace stagewise::cross_stage
