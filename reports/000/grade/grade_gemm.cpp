#include "reports/000/grade/grade_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "01_serial/gemm.hpp"
#include "03_shared_memory/kernels.hpp"
#include "app/text.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "cuda/workspace.hpp"
#include "ladders/program/references.hpp"
#include "tensor/random.hpp"

namespace stagewise::grading {
namespace {

constexpr double bound = 1e-7;

struct Size {
  Index m, n, k;
};
constexpr std::array<Size, 2> sizes = {{{800, 1000, 784}, {800, 10, 1000}}};

std::vector<double> random_numbers(Index count, Random& random) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) number = random.uniform(-1, 1);
  return numbers;
}

/// A product on the device, which can be computed repeatedly.
class Product {
 public:
  Product(const Size& size, Random& random)
      : host_a_(random_numbers(size.m * size.k, random)),
        host_b_(random_numbers(size.k * size.n, random)),
        host_c_(random_numbers(size.m * size.n, random)),
        a_({size.m, size.k}, cuda::device_memory()),
        b_({size.k, size.n}, cuda::device_memory()),
        c_({size.m, size.n}, cuda::device_memory()) {
    copy(a_.data(), host_a_);
    copy(b_.data(), host_b_);
    problem_ = {.m = size.m,
                .n = size.n,
                .k = size.k,
                .alpha = 2,
                .a = a_.data(),
                .b = b_.data(),
                .beta = 5,
                .c = c_.data()};
  }

  /// C, computed once by `work` from its initial values.
  std::vector<double> compute(const std::function<void(cudaStream_t)>& work) {
    copy(c_.data(), host_c_);
    work(stream_.get());
    std::vector<double> result(host_c_.size());
    CUDA_CHECK(cudaMemcpyAsync(result.data(), c_.data(), result.size() * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    return result;
  }

  /// The seconds that `work` takes: the median of a few runs.
  double measure(const std::function<void(cudaStream_t)>& work) {
    constexpr int repetitions = 9;
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
      const cuda::TimedEvent begin;
      const cuda::TimedEvent end;
      begin.record(stream_);
      work(stream_.get());
      end.record(stream_);
      end.synchronize();
      seconds.push_back(end.seconds_since(begin));
    }
    std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
    return seconds[repetitions / 2];
  }

  /// Stage 01's C.
  std::vector<double> compute_serially() const {
    std::vector<double> c = host_c_;
    GemmProblem<double> problem = problem_;
    problem.a = host_a_.data();
    problem.b = host_b_.data();
    problem.c = c.data();
    serial::gemm<double>(serial::GemmVariant::blas, problem);
    return c;
  }

  const GemmProblem<double>& problem() const { return problem_; }

 private:
  void copy(double* to, const std::vector<double>& from) {
    CUDA_CHECK(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(double),
                               cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }

  cuda::Stream stream_;
  std::vector<double> host_a_, host_b_, host_c_;
  Tensor<double> a_, b_, c_;
  GemmProblem<double> problem_;
};

/// max |a - b| / max |b|; NaN if any element is NaN.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return NAN;
    difference = std::max(difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace

int grade_gemm() {
  using ladder::has_cublas;
  std::cout << "grading mode 4: C = 2 A B + 5 C in double, compared with "
            << (has_cublas ? "cuBLAS" : "OpenBLAS") << "\n\n"
            << "   m     n    k  kernel           difference      time"
            << (has_cublas ? "    cuBLAS" : "") << '\n';
  Random random(1);
  Workspace workspace;
  bool is_right = true;
  for (const Size& size : sizes) {
    Product product(size, random);
    const auto own = [&](cudaStream_t stream) {
      shared_memory::gemm(stream, product.problem(), workspace);
    };
    const std::vector<double> found = product.compute(own);
    std::vector<double> expected;
    std::string reference_time;
    if constexpr (has_cublas) {
      ladder::ReferenceGemm cublas;
      const auto reference = [&](cudaStream_t stream) { cublas.run(stream, product.problem()); };
      expected = product.compute(reference);
      product.measure(reference);  // warm
      reference_time = duration(product.measure(reference));
    } else {
      expected = product.compute_serially();
    }
    const double difference = relative_difference(found, expected);
    product.measure(own);
    const std::string time = duration(product.measure(own));
    is_right = is_right && difference <= bound;  // false for NaN
    std::string line = right(std::to_string(size.m), 4) + right(std::to_string(size.n), 6) +
                       right(std::to_string(size.k), 5) + "  ";
    std::string kernel(shared_memory::pick_gemm(product.problem()).name);
    kernel.resize(15, ' ');
    line += kernel + right(scientific(difference), 12) + right(time, 10);
    if constexpr (has_cublas) line += right(reference_time, 10);
    std::cout << line << '\n';
  }
  std::cout << "\nverdict     "
            << (is_right ? "both differences are at most " : "NOT both differences are at most ")
            << scientific(bound) << '\n';
  return is_right ? 0 : 1;
}

}  // namespace stagewise::grading
