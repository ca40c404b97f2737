/// @file
/// Rung 17 of the GEMM ladder, whose instructions only Hopper GPUs have.
#pragma once

#include <string_view>

#include <cuda_runtime.h>

#include "cuda/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// wgmma, rounded to bfloat16. For compute capability 9.0, and where why_no_wgmma() is
/// empty, as all of these.
void gemm_wgmma_bf16(cudaStream_t stream, const GemmProblem<float>& problem, Workspace& workspace);

/// wgmma, rounded to TF32.
void gemm_wgmma_tf32(cudaStream_t stream, const GemmProblem<float>& problem, Workspace& workspace);

/// The first part of the rung `wgmma-bf16`: leaves rounded copies of the factors in the workspace.
void round_to_bf16(cudaStream_t stream, const GemmProblem<float>& problem, Workspace& workspace);

/// The first part of `wgmma-tf32`, likewise.
void round_to_tf32(cudaStream_t stream, const GemmProblem<float>& problem, Workspace& workspace);

/// Why this build does not have rung 17; empty if it has.
std::string_view why_no_wgmma();

}  // namespace stagewise::shared_memory
