#include "03_shared_memory/ladder_commands.hpp"

#include <algorithm>

#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/reduce.hpp"
#include "03_shared_memory/transpose.hpp"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {
namespace {

/// The names in ladders of both precisions, which need not have the same rungs.
template <typename Float, typename Double>
std::vector<std::string> names_of(const Ladder<Float>& in_float, const Ladder<Double>& in_double) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const Rung<Float>& rung : in_float) add(rung.name);
  for (const Rung<Double>& rung : in_double) add(rung.name);
  return names;
}

}  // namespace

std::vector<LadderCommand> ladder_commands() {
  // CUDA on the CPU takes minutes for what a GPU does in microseconds.
  const Index part = cuda::runs_on_cpu() ? 10 : 1;
  LadderCommand gemm{.name = "gemm",
                     .summary = "the kernels that multiply matrices, verified and timed",
                     .sizes = {{"m", "rows of A and C", 800 / part},
                               {"n", "columns of B and C", 1000 / part},
                               {"k", "columns of A and rows of B", 784 / part}},
                     .is_product = true,
                     .rungs = names_of(gemm_ladder<float>(), gemm_ladder<double>()),
                     .run = run_gemm};
  LadderCommand reduce{
      .name = "reduce",
      .summary = "the kernels that add up, verified and timed",
      .sizes = {{"m", "rows of a matrix whose columns are added up", {}},
                {"n", "numbers to add up [1048576], or columns of the matrix [1000]", {}}},
      .rungs = names_of(sum_ladder<float>(), sum_ladder<double>()),
      .run = run_reduce};
  LadderCommand transpose{
      .name = "transpose",
      .summary = "the kernels that transpose, or insert a column, verified and timed",
      .sizes = {{"m", "rows", 2048}, {"n", "columns", 2048}},
      .rungs = names_of(transpose_ladder<float>(), transpose_ladder<double>()),
      .run = run_transpose};
  for (const char* const name : column_work) transpose.rungs.emplace_back(name);
  return {gemm, reduce, transpose};
}

}  // namespace stagewise::shared_memory
