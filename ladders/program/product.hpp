/// @file
/// A product to try kernels with.
#pragma once

#include <vector>

#include "01_serial/gemm.hpp"
#include "ladders/program/runner.hpp"

namespace stagewise::ladder {

/// Random operands of a product, on the host and on the GPU.
template <typename T>
class Product {
 public:
  /// Copies A and B to the GPU.
  /// @param shape without operands.
  /// @param stream must outlive this.
  Product(const GemmProblem<T>& shape, Random random, const cuda::Stream& stream)
      : problem_(shape),
        stream_(&stream),
        host_a_(random_numbers<T>(shape.m * shape.k, random)),
        host_b_(random_numbers<T>(shape.k * shape.n, random)),
        host_c_(random_numbers<T>(shape.m * shape.n, random)) {
    copy_in(stream, host_a_, a_);
    copy_in(stream, host_b_, b_);
    problem_.a = a_.data();
    problem_.b = b_.data();
    problem_.c = c_.data();
  }

  /// On the GPU.
  const GemmProblem<T>& problem() const { return problem_; }

  /// Restores C to its state before the product.
  void prepare() {
    if (problem_.beta == 0) {
      poison(*stream_, c_);
    } else {
      copy_in(*stream_, host_c_, c_);
    }
  }

  /// C as it is on the GPU.
  std::vector<T> result() const { return copy_out(*stream_, c_.data(), c_.elements()); }

  /// Stage 01's result for the same inputs, in double.
  std::vector<double> expected() const {
    const std::vector<double> a(host_a_.begin(), host_a_.end());
    const std::vector<double> b(host_b_.begin(), host_b_.end());
    std::vector<double> c(host_c_.begin(), host_c_.end());
    serial::gemm<double>(serial::GemmVariant::blas, {.op_a = problem_.op_a,
                                                     .op_b = problem_.op_b,
                                                     .m = problem_.m,
                                                     .n = problem_.n,
                                                     .k = problem_.k,
                                                     .alpha = static_cast<double>(problem_.alpha),
                                                     .a = a.data(),
                                                     .b = b.data(),
                                                     .beta = static_cast<double>(problem_.beta),
                                                     .c = c.data()});
    return c;
  }

 private:
  GemmProblem<T> problem_;
  const cuda::Stream* stream_;
  std::vector<T> host_a_;
  std::vector<T> host_b_;
  std::vector<T> host_c_;
  Tensor<T> a_ = on_device<T>(std::ssize(host_a_));
  Tensor<T> b_ = on_device<T>(std::ssize(host_b_));
  Tensor<T> c_ = on_device<T>(std::ssize(host_c_));
};

}  // namespace stagewise::ladder
