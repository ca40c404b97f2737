// In place of rungs 19 and 20, where they cannot be compiled.

#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {

std::string_view why_no_wgmma() {
  if (cuda::runs_on_cpu()) return "it is a GPU's own, and CUDA on the CPU does not imitate it";
  return "this build leaves it out: it takes nvcc 12.4 or later";
}

void gemm_wgmma_bf16(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void gemm_wgmma_tf32(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void round_to_bf16(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void round_to_tf32(cudaStream_t, const GemmProblem<float>&, Workspace&) {}

}  // namespace stagewise::shared_memory
