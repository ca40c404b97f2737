/// @file
/// The products of the stages, and further ones: those that round, for tensor cores, and beside the
/// ladder, what is not faster than the rung before, but shows something. Rung 14 wins back what
/// rounding loses. Rung 17 rounds as 15 and 16 do, for the instructions of Hopper GPUs.

#include <vector>

#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "ladders/gemm/3_dot_product.cuh"
#include "ladders/gemm/gemm.hpp"
#include "ladders/gemm/hopper/wgmma_rungs.hpp"
#include "ladders/gemm/rungs.hpp"

namespace stagewise::ladder {

using namespace shared_memory;  // NOLINT(google-build-using-namespace): the rungs extend its ladder

namespace {

/// `wgmma` is there in compute capability 9.0 only, neither before nor after.
template <typename T>
Support supports_wgmma(const GemmProblem<T>& p) {
  if (!std::is_same_v<T, float>) return {"it multiplies floats"};
  if (!why_no_wgmma().empty()) return {std::string(why_no_wgmma())};
  if (cuda::compute_capability() == 90) return supports_ints(p);
  return takes_capability("9.0");
}

template <typename T, auto kernel>
void gemm_of_floats(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if constexpr (std::is_same_v<T, float>) kernel(stream, p, workspace);
}

//! [ladder]
template <typename T>
std::vector<GemmRung<T>> all_rungs() {
  constexpr auto all = &supports_everything<GemmProblem<T>>;
  std::vector<GemmRung<T>> rounding = {
      {"3xtf32", "ladders/gemm/rounded/14_split_tf32.cu", "floats in two parts of 10 bits",
       run_kernel<T, gemm_in_tiles<T, split_tf32_tiles>>, supports_tiles<T, split_tf32_tiles>, 0, 0x1p-20},
      {"tf32", "ladders/gemm/rounded/15_tf32.cu", "rounded to 10 bits of fraction",
       run_kernel<T, gemm_in_tiles<T, tf32_tiles>>, supports_tiles<T, tf32_tiles>, 0, 0x1p-11},
      {"bf16", "ladders/gemm/rounded/16_bf16.cu", "... to 7 bits", run_kernel<T, gemm_in_tiles<T, bf16_tiles>>,
       supports_tiles<T, bf16_tiles>, 0, 0x1p-8},
      {"wgmma-tf32", "ladders/gemm/hopper/17_wgmma.cu", "tf32 by wgmma",
       run_kernel<T, gemm_of_floats<T, gemm_wgmma_tf32>>, supports_wgmma<T>, 0, 0x1p-11,
       run_kernel<T, gemm_of_floats<T, round_to_tf32>>},
      {"wgmma-bf16", "ladders/gemm/hopper/17_wgmma.cu", "bf16 by wgmma",
       run_kernel<T, gemm_of_floats<T, gemm_wgmma_bf16>>, supports_wgmma<T>, 0, 0x1p-8,
       run_kernel<T, gemm_of_floats<T, round_to_bf16>>},
  };
  std::vector<GemmRung<T>> beside = {
      {"dot-interleaved", "ladders/gemm/3_dot_product.cuh", "a block an element, adding in pairs",
       run_kernel<T, gemm_dot_product<T, Interleaved>>, all},
      {"dot-non-divergent", "ladders/gemm/3_dot_product.cuh", "... by neighbouring threads",
       run_kernel<T, gemm_dot_product<T, NonDivergent>>, all},
      {"dot-sequential", "ladders/gemm/3_dot_product.cuh", "... of neighbouring numbers",
       run_kernel<T, gemm_dot_product<T, Sequential>>, all},
      {"dot-last-warp", "ladders/gemm/3_dot_product.cuh", "... the last warp without barriers",
       run_kernel<T, gemm_dot_product<T, LastWarp>>, all},
      {"tile-4", "stages/03_shared_memory/gemm/4_tile.cu", "rung 4 with tiles of 4 x 4", run_kernel<T, gemm_tile<T, 4>>,
       all, 4},
      {"tile-8", "stages/03_shared_memory/gemm/4_tile.cu", "... of 8 x 8", run_kernel<T, gemm_tile<T, 8>>, all, 8},
      {"tile-32", "stages/03_shared_memory/gemm/4_tile.cu", "... of 32 x 32", run_kernel<T, gemm_tile<T, 32>>, all, 32},
      {"conflicts", "ladders/gemm/5_bank_conflicts.cu", "coalesced, but with bank conflicts",
       run_kernel<T, gemm_coalesced_tile<T, 0>>, all, 32},
      {"padded", "ladders/gemm/5_bank_conflicts.cu", "... and without, by padding",
       run_kernel<T, gemm_coalesced_tile<T, 1>>, all, 32},
  };
  for (GemmRung<T>& rung : rounding) rung.group = "rounded on the way to tensor cores:";
  for (GemmRung<T>& rung : beside) rung.group = "beside the ladder:";
  const Ladder<GemmProblem<T>> of_stages = shared_memory::gemm_ladder<T>();
  std::vector<GemmRung<T>> rungs(of_stages.begin(), of_stages.end());
  rungs.insert(rungs.end(), rounding.begin(), rounding.end());
  rungs.insert(rungs.end(), beside.begin(), beside.end());
  return rungs;
}
//! [ladder]

}  // namespace

template <typename T>
Ladder<GemmProblem<T>> gemm_ladder() {
  static const std::vector<GemmRung<T>> rungs = all_rungs<T>();
  return rungs;
}

template <typename T>
GemmTiles<T> gemm_tiles(std::string_view rung) {
  if constexpr (std::is_same_v<T, float>) {
    if (rung == "tf32") return tf32_tiles();
    if (rung == "bf16") return bf16_tiles();
    if (rung == "3xtf32") return split_tf32_tiles();
  }
  return shared_memory::gemm_tiles<T>(rung);
}

template Ladder<GemmProblem<float>> gemm_ladder();
template Ladder<GemmProblem<double>> gemm_ladder();
template GemmTiles<float> gemm_tiles(std::string_view);
template GemmTiles<double> gemm_tiles(std::string_view);

}  // namespace stagewise::ladder
