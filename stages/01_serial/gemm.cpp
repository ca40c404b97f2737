#include "01_serial/gemm.hpp"

#include <algorithm>

#include "tensor/error.hpp"

namespace stagewise::serial {

const std::vector<std::string>& gemm_variant_names() {
  static const std::vector<std::string> names = {"naive", "reordered", "blas"};
  return names;
}

GemmVariant parse_gemm_variant(const std::string& name) {
  const auto& names = gemm_variant_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw UsageError("there is no variant of GEMM named '" + name + "'");
  return static_cast<GemmVariant>(found - names.begin());
}

template <typename T>
void gemm(GemmVariant variant, const GemmProblem<T>& problem) {
  switch (variant) {
    case GemmVariant::naive:
      return gemm_naive(problem);
    case GemmVariant::reordered:
      return gemm_reordered(problem);
    case GemmVariant::blas:
      return gemm_blas(problem);
  }
}

template void gemm(GemmVariant, const GemmProblem<float>&);
template void gemm(GemmVariant, const GemmProblem<double>&);

}  // namespace stagewise::serial
