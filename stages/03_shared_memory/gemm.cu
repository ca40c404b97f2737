/// @file
/// The GEMM ladder, and the rule that picks a rung.
///
/// Rungs 1 and 2 take every number from global memory, each time they need it. Rung 4 shares what
/// it loads within a block, rungs 6 and 7 within a thread, too, and rung 10 within a warp. Rung 8
/// loads vectors, and from rung 9 on the rungs load while they multiply; rung 11 past the
/// registers. Rung 12 multiplies doubles on tensor cores, and rung 13 floats in the same loop
/// (tiles/). What is missing here is in ladders/gemm/: rungs 3 and 5, which are steps aside, and
/// those that round.

#include <array>
#include <type_traits>

#include "02_naive_cuda/kernels.hpp"
#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/kernels.hpp"

namespace stagewise::shared_memory {
namespace {

template <typename T>
void gemm_naive(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  naive_cuda::gemm(stream, p);
}

//! [ladder]
template <typename T>
const auto& rungs() {
  static constexpr auto all = &supports_everything<GemmProblem<T>>;
  static constexpr auto ladder = std::to_array<GemmRung<T>>({
      {"uncoalesced", "stages/03_shared_memory/gemm/1_uncoalesced.cu",
       "x is the row: what not to do", run_kernel<T, gemm_uncoalesced<T>>, all},
      {"naive", "stages/02_naive_cuda/gemm.cu", "stage 02: one thread per element",
       run_kernel<T, gemm_naive<T>>, all},
      {"tile-16", "stages/03_shared_memory/gemm/4_tile.cu", "tiles of 16 x 16 in shared memory",
       run_kernel<T, gemm_tile<T, 16>>, all, 16},
      {"register-column", "stages/03_shared_memory/gemm/6_register_column.cu",
       "a thread computes 16 elements", run_kernel<T, gemm_register_column<T>>, all},
      {"register-tile", "stages/03_shared_memory/gemm/7_register_tile.cu",
       "a thread computes 4 x 4", run_kernel<T, gemm_register_tile<T>>, all, 64},
      {"vector-loads", "stages/03_shared_memory/gemm/8_vector_loads.cu", "16 bytes a load",
       run_kernel<T, gemm_vector_loads<T>>, all},
      {"double-buffering", "stages/03_shared_memory/gemm/9_double_buffering.cu",
       "loads while it multiplies", run_kernel<T, gemm_double_buffering<T>>, all},
      {"warp-tiles", "stages/03_shared_memory/gemm/10_warp_tiles.cu", "a warp computes 32 x 64",
       run_kernel<T, gemm_warp_tiles<T>>, all},
      {"async-copies", "stages/03_shared_memory/gemm/11_async_copies.cu", "past the registers",
       run_kernel<T, gemm_async_copies<T>>, supports_async_copies<T>},
      {"tensor-cores", "stages/03_shared_memory/gemm/12_tensor_cores.cu", "fp64 by mma.sync",
       run_kernel<T, gemm_in_tiles<T, tensor_core_tiles>>, supports_tiles<T, tensor_core_tiles>},
      {"fitted-tiles", "stages/03_shared_memory/gemm/13_fitted_tiles.cu",
       "the same loop for floats", run_kernel<T, gemm_in_tiles<T, fitted_tiles>>,
       supports_tiles<T, fitted_tiles>},
  });
  return ladder;
}
//! [ladder]

}  // namespace

template <typename T>
Ladder<GemmProblem<T>> gemm_ladder() {
  return rungs<T>();
}

template <typename T>
GemmTiles<T> gemm_tiles(std::string_view rung) {
  if constexpr (std::is_same_v<T, double>) {
    if (rung == "tensor-cores") return tensor_core_tiles();
  } else {
    if (rung == "fitted-tiles") return fitted_tiles();
  }
  return {};
}

template <typename T>
bool copies_vectors(const GemmProblem<T>& p) {
  const bool are_transposed = p.op_a == Transpose::yes && p.op_b == Transpose::yes;
  return !are_transposed && have_vectors(p);
}

//! [pick]
// A tile that suits the product is the fastest on a GPU, and the slowest to emulate. What the top
// rungs do not support gets the best one that does. None of these rounds.
template <typename T>
const GemmRung<T>& pick_gemm(const GemmProblem<T>& p) {
  const char* const fitted = std::is_same_v<T, double> ? "tensor-cores" : "fitted-tiles";
  for (const char* const name : {fitted, "async-copies"}) {
    const GemmRung<T>& rung = find_rung(gemm_ladder<T>(), name);
    if (rung.supports(p) && !cuda::runs_on_cpu()) return rung;
  }
  return find_rung(gemm_ladder<T>(), "warp-tiles");
}
//! [pick]

template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, Workspace& workspace,
          const GemmRung<T>* rung) {
  if (rung == nullptr) rung = &pick_gemm(problem);
  if (const Support support = rung->supports(problem); !support) {
    throw Error("--gemm " + std::string(rung->name) + " cannot be used here: " + support.reason);
  }
  rung->run(stream, problem, workspace);
}

template Ladder<GemmProblem<float>> gemm_ladder();
template Ladder<GemmProblem<double>> gemm_ladder();
template GemmTiles<float> gemm_tiles(std::string_view);
template GemmTiles<double> gemm_tiles(std::string_view);
template bool copies_vectors(const GemmProblem<float>&);
template bool copies_vectors(const GemmProblem<double>&);
template const GemmRung<float>& pick_gemm(const GemmProblem<float>&);
template const GemmRung<double>& pick_gemm(const GemmProblem<double>&);
template void gemm(cudaStream_t, const GemmProblem<float>&, Workspace&, const GemmRung<float>*);
template void gemm(cudaStream_t, const GemmProblem<double>&, Workspace&, const GemmRung<double>*);

}  // namespace stagewise::shared_memory
