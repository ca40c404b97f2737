/// @file
/// The GEMM ladder, and the rule that picks a rung.
///
/// Rungs 1 to 3 take every number from global memory, each time they need it. Rungs 4 and 5 share
/// what they load within a block, rungs 6 and 7 within a thread, too, and rung 10 within a warp.
/// Rung 8 loads vectors, and from rung 9 on the rungs load while they multiply. Rungs 11 to 13
/// share one main loop; the last of them keeps all multiprocessors busy until the end. Rung 14
/// multiplies doubles on tensor cores, and rung 15 floats in the same loop. Rungs 16 and 17 round
/// floats for tensor cores, and rung 18 wins back what that loses. Rungs 19 and 20 round as 16 and
/// 17 do, for the instructions of Hopper GPUs.

#include <array>
#include <type_traits>

#include "02_naive_cuda/gemm.hpp"
#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/gemm/stream_k.cuh"
#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {
namespace {

/// A kernel that is not asked for products without elements: a grid must not be empty.
template <typename T>
using Kernel = void (*)(cudaStream_t, const GemmProblem<T>&, Workspace&);

template <typename T, Kernel<T> kernel>
void run(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if (p.m > 0 && p.n > 0) kernel(stream, p, workspace);
}

template <typename T>
void gemm_naive(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  naive_cuda::gemm(stream, p);
}

Support counts_in_ints() {
  return {"it counts in 32 bits, which is too little for these sizes"};
}

Support takes_capability(const std::string& which) {
  const int capability = cuda::compute_capability();
  return {"it takes a GPU of compute capability " + which + ", and this one has " +
          std::to_string(capability / 10) + "." + std::to_string(capability % 10)};
}

template <typename T>
Support supports_main_loop(const GemmProblem<T>& p) {
  return fits_ints(p.m, p.n, p.k) ? Support() : counts_in_ints();
}

/// `cp.async` is there from compute capability 8.0 on.
template <typename T>
Support supports_async_copies(const GemmProblem<T>& p) {
  if (cuda::compute_capability() >= 80) return supports_main_loop(p);
  return takes_capability("8.0 or higher");
}

template <typename T>
Support supports_stream_k(const GemmProblem<T>& p) {
  const Support async = supports_async_copies(p);
  return async && !fits_stream_k(p.m, p.n, p.k) ? counts_in_ints() : async;
}

/// So is `mma.sync`. Each table of tiles is for numbers of one type.
template <typename T, auto tiles>
constexpr bool are_tiles_of = std::is_same_v<decltype(tiles()), std::span<const FittedTile<T>>>;

template <typename T, auto tiles>
Support supports_tiles(const GemmProblem<T>& p) {
  if (are_tiles_of<T, tiles>) return supports_async_copies(p);
  return {std::is_same_v<T, float> ? "it multiplies doubles; floats have rungs of their own"
                                   : "it multiplies floats"};
}

template <typename T, auto tiles>
void gemm_in_tiles(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if constexpr (are_tiles_of<T, tiles>) gemm_planned_tiles(stream, p, tiles(), workspace);
}

/// `wgmma` is there in compute capability 9.0 only, neither before nor after.
template <typename T>
Support supports_wgmma(const GemmProblem<T>& p) {
  if (!std::is_same_v<T, float>) return {"it multiplies floats"};
  if (!why_no_wgmma().empty()) return {std::string(why_no_wgmma())};
  if (cuda::compute_capability() == 90) return supports_main_loop(p);
  return takes_capability("9.0");
}

template <typename T, auto kernel>
void gemm_of_floats(cudaStream_t stream, const GemmProblem<T>& p, Workspace& workspace) {
  if constexpr (std::is_same_v<T, float>) kernel(stream, p, workspace);
}

//! [ladder]
template <typename T>
const auto& rungs() {
  static constexpr auto all = &supports_everything<GemmProblem<T>>;
  static constexpr auto ladder = std::to_array<GemmRung<T>>({
      {"uncoalesced", "stages/03_shared_memory/gemm/1_uncoalesced.cu",
       "x is the row: what not to do", run<T, gemm_uncoalesced<T>>, all},
      {"naive", "stages/02_naive_cuda/gemm.cu", "stage 02: a thread an element",
       run<T, gemm_naive<T>>, all},
      {"dot-interleaved", "stages/03_shared_memory/gemm/3_dot_product.cu",
       "a block an element, adding in pairs", run<T, gemm_dot_product<T, Interleaved>>, all},
      {"dot-non-divergent", "stages/03_shared_memory/gemm/3_dot_product.cu",
       "... by neighbouring threads", run<T, gemm_dot_product<T, NonDivergent>>, all},
      {"dot-sequential", "stages/03_shared_memory/gemm/3_dot_product.cu",
       "... of neighbouring numbers", run<T, gemm_dot_product<T, Sequential>>, all},
      {"dot-last-warp", "stages/03_shared_memory/gemm/3_dot_product.cu",
       "... the last warp without barriers", run<T, gemm_dot_product<T, LastWarp>>, all},
      {"tile-4", "stages/03_shared_memory/gemm/4_tile.cu", "tiles of 4 x 4 in shared memory",
       run<T, gemm_tile<T, 4>>, all, 4},
      {"tile-8", "stages/03_shared_memory/gemm/4_tile.cu", "... of 8 x 8", run<T, gemm_tile<T, 8>>,
       all, 8},
      {"tile-16", "stages/03_shared_memory/gemm/4_tile.cu", "... of 16 x 16",
       run<T, gemm_tile<T, 16>>, all, 16},
      {"tile-32", "stages/03_shared_memory/gemm/4_tile.cu", "... of 32 x 32",
       run<T, gemm_tile<T, 32>>, all, 32},
      {"conflicts", "stages/03_shared_memory/gemm/5_bank_conflicts.cu",
       "coalesced, but with bank conflicts", run<T, gemm_coalesced_tile<T, 0>>, all, 32},
      {"padded", "stages/03_shared_memory/gemm/5_bank_conflicts.cu", "... and without, by padding",
       run<T, gemm_coalesced_tile<T, 1>>, all, 32},
      {"register-column", "stages/03_shared_memory/gemm/6_register_column.cu",
       "a thread computes 8 elements", run<T, gemm_register_column<T>>, all, 64},
      {"register-tile", "stages/03_shared_memory/gemm/7_register_tile.cu",
       "a thread computes 8 x 8", run<T, gemm_register_tile<T>>, all, 64},
      {"vector-loads", "stages/03_shared_memory/gemm/8_vector_loads.cu", "16 bytes a load",
       run<T, gemm_vector_loads<T>>, all},
      {"double-buffering", "stages/03_shared_memory/gemm/9_double_buffering.cu",
       "loads while it multiplies", run<T, gemm_double_buffering<T>>, all},
      {"warp-tiles", "stages/03_shared_memory/gemm/10_warp_tiles.cu", "a warp computes 32 x 64",
       run<T, gemm_warp_tiles<T>>, all},
      {"main-loop", "stages/03_shared_memory/gemm/11_main_loop.cu", "the same, made of parts",
       run<T, gemm_main_loop<T>>, supports_main_loop<T>},
      {"async-copies", "stages/03_shared_memory/gemm/12_async_copies.cu", "past the registers",
       run<T, gemm_async_copies<T>>, supports_async_copies<T>},
      {"stream-k", "stages/03_shared_memory/gemm/13_stream_k.cu", "the same work for every block",
       run<T, gemm_stream_k<T>>, supports_stream_k<T>},
      {"tensor-cores", "stages/03_shared_memory/gemm/14_tensor_cores.cu", "fp64 by mma.sync",
       run<T, gemm_in_tiles<T, tensor_core_tiles>>, supports_tiles<T, tensor_core_tiles>},
      {"fitted-tiles", "stages/03_shared_memory/gemm/15_fitted_tiles.cu",
       "the same loop for floats", run<T, gemm_in_tiles<T, fitted_tiles>>,
       supports_tiles<T, fitted_tiles>},
      {"tf32", "stages/03_shared_memory/gemm/16_tf32.cu", "rounded to 10 bits of fraction",
       run<T, gemm_in_tiles<T, tf32_tiles>>, supports_tiles<T, tf32_tiles>, 0, 0x1p-11},
      {"bf16", "stages/03_shared_memory/gemm/17_bf16.cu", "... to 7 bits",
       run<T, gemm_in_tiles<T, bf16_tiles>>, supports_tiles<T, bf16_tiles>, 0, 0x1p-8},
      {"3xtf32", "stages/03_shared_memory/gemm/18_split_tf32.cu", "in two parts of 10 bits",
       run<T, gemm_in_tiles<T, split_tf32_tiles>>, supports_tiles<T, split_tf32_tiles>, 0, 0x1p-20},
      {"wgmma-bf16", "stages/03_shared_memory/gemm/hopper/19_wgmma.cu", "bf16 by wgmma",
       run<T, gemm_of_floats<T, gemm_wgmma_bf16>>, supports_wgmma<T>, 0, 0x1p-8,
       run<T, gemm_of_floats<T, round_to_bf16>>},
      {"wgmma-tf32", "stages/03_shared_memory/gemm/hopper/19_wgmma.cu", "tf32 by wgmma",
       run<T, gemm_of_floats<T, gemm_wgmma_tf32>>, supports_wgmma<T>, 0, 0x1p-11,
       run<T, gemm_of_floats<T, round_to_tf32>>},
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
std::span<const FittedTile<T>> gemm_tiles(std::string_view rung) {
  if constexpr (std::is_same_v<T, double>) {
    if (rung == "tensor-cores") return tensor_core_tiles();
  } else {
    if (rung == "fitted-tiles") return fitted_tiles();
    if (rung == "tf32") return tf32_tiles();
    if (rung == "bf16") return bf16_tiles();
    if (rung == "3xtf32") return split_tf32_tiles();
  }
  return {};
}

//! [pick]
// A tile that fits the product is the fastest on a GPU, and the slowest to emulate. Otherwise,
// large tiles load least for what they multiply, so they win where there are enough of them: from
// six rounds on, a last round that is half empty costs less than a tenth. Everything smaller is
// dealt out evenly. What the top rungs do not support gets the best one that does. None of these
// rounds.
template <typename T>
const GemmRung<T>& pick_gemm(const GemmProblem<T>& p) {
  const Ladder<GemmProblem<T>> ladder = gemm_ladder<T>();
  const Index tiles = tile_count<typename Tilings<T>::Large>(p.m, p.n);
  const bool fills = tiles >= 6 * cuda::multiprocessors();
  const char* const wanted = fills ? "async-copies" : "stream-k";
  const char* const fitted = std::is_same_v<T, double> ? "tensor-cores" : "fitted-tiles";
  const char* const fastest = cuda::runs_on_cpu() ? wanted : fitted;
  for (const char* const name : {fastest, wanted, "async-copies", "main-loop"}) {
    const GemmRung<T>& rung = find_rung(ladder, name);
    if (rung.supports(p)) return rung;
  }
  return find_rung(ladder, "warp-tiles");
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
template std::span<const FittedTile<float>> gemm_tiles(std::string_view);
template std::span<const FittedTile<double>> gemm_tiles(std::string_view);
template const GemmRung<float>& pick_gemm(const GemmProblem<float>&);
template const GemmRung<double>& pick_gemm(const GemmProblem<double>&);
template void gemm(cudaStream_t, const GemmProblem<float>&, Workspace&, const GemmRung<float>*);
template void gemm(cudaStream_t, const GemmProblem<double>&, Workspace&, const GemmRung<double>*);

}  // namespace stagewise::shared_memory
