#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "03_shared_memory/kernels.hpp"
#include "cli/text.hpp"
#include "ladders/program/product.hpp"
#include "ladders/program/references.hpp"
#include "reports/000/grade/grade.hpp"
#include "verify/compare.hpp"

namespace stagewise::grading {
namespace {

constexpr double bound = 1e-7;

/// The report's two products.
constexpr std::array<GemmProblem<double>, 2> shapes = {
    {{.m = 800, .n = 1000, .k = 784, .alpha = 2, .beta = 5}, {.m = 800, .n = 10, .k = 1000, .alpha = 2, .beta = 5}}};

/// The seconds that `work` takes: the median of a few runs, when it is warm.
double measure(const cuda::Stream& stream, const std::function<void()>& work) {
  constexpr int repetitions = 9;
  std::vector<double> seconds;
  for (int i = 0; i < 2 * repetitions; ++i) {
    const cuda::TimedEvent begin;
    const cuda::TimedEvent end;
    begin.record(stream);
    work();
    end.record(stream);
    end.synchronize();
    if (i >= repetitions) seconds.push_back(end.seconds_since(begin));
  }
  std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
  return seconds[repetitions / 2];
}

}  // namespace

int grade_gemm() {
  using ladder::has_cublas;
  std::cout << "grading mode 4: C = 2 A B + 5 C in double, compared with " << (has_cublas ? "cuBLAS" : "OpenBLAS")
            << "\n\n"
            << "   m     n    k  kernel           difference      time" << (has_cublas ? "    cuBLAS" : "") << '\n';
  const cuda::Stream stream;
  Workspace workspace;
  bool is_right = true;
  for (const GemmProblem<double>& shape : shapes) {
    ladder::Product<double> product(shape, Random(1), stream);
    const auto computed_by = [&](const std::function<void()>& work) {
      product.prepare();
      work();
      return product.result();
    };
    const auto own = [&] { shared_memory::gemm(stream.get(), product.problem(), workspace); };
    const std::vector<double> found = computed_by(own);
    std::vector<double> expected;
    std::string reference_time;
    if constexpr (has_cublas) {
      ladder::ReferenceGemm cublas;
      const auto reference = [&] { cublas.run(stream.get(), product.problem()); };
      expected = computed_by(reference);
      reference_time = right(duration(measure(stream, reference)), 10);
    } else {
      expected = product.expected();
    }
    const Shape both = {shape.m, shape.n};
    const Difference difference = compare_parameters({{"C", both, found}}, {{"C", both, expected}}).front();
    is_right = is_right && difference.within(bound);
    std::string kernel(shared_memory::pick_gemm(product.problem()).name);
    kernel.resize(15, ' ');
    std::cout << right(std::to_string(shape.m), 4) << right(std::to_string(shape.n), 6)
              << right(std::to_string(shape.k), 5) << "  " << kernel << right(scientific(difference.max_norm), 12)
              << right(duration(measure(stream, own)), 10) << reference_time << '\n';
  }
  std::cout << "\nverdict     " << (is_right ? "both differences are at most " : "NOT both differences are at most ")
            << scientific(bound) << '\n';
  return is_right ? 0 : 1;
}

}  // namespace stagewise::grading
