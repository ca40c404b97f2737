#include "01_serial/gemm.hpp"

#include <algorithm>

#include "tensor/error.hpp"

namespace stagewise::serial {

const std::vector<std::string>& gemm_form_names() {
  static const std::vector<std::string> names = {"naive", "reordered", "blocked", "blas"};
  return names;
}

GemmForm parse_gemm_form(const std::string& name) {
  const auto& names = gemm_form_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw UsageError("there is no form of GEMM named '" + name + "'");
  return static_cast<GemmForm>(found - names.begin());
}

template <typename T>
void gemm(GemmForm form, const GemmProblem<T>& problem) {
  switch (form) {
    case GemmForm::naive:
      return gemm_naive(problem);
    case GemmForm::reordered:
      return gemm_reordered(problem);
    case GemmForm::blocked:
      return gemm_blocked(problem);
    case GemmForm::blas:
      return gemm_blas(problem);
  }
}

template void gemm(GemmForm, const GemmProblem<float>&);
template void gemm(GemmForm, const GemmProblem<double>&);

}  // namespace stagewise::serial
