// In place of rung 17, where it cannot be compiled.

#include "cuda/device.hpp"
#include "ladders/gemm/hopper/wgmma_rungs.hpp"

namespace stagewise::shared_memory {

std::string_view why_no_wgmma() {
  if (cuda::runs_on_cpu()) return "it takes a Hopper GPU's own units, and this is the CPU";
  return "this build leaves it out, because its nvcc is too old for wgmma";
}

void gemm_wgmma_bf16(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void gemm_wgmma_tf32(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void round_to_bf16(cudaStream_t, const GemmProblem<float>&, Workspace&) {}
void round_to_tf32(cudaStream_t, const GemmProblem<float>&, Workspace&) {}

}  // namespace stagewise::shared_memory
