/// @file
/// A kernel that multiplies matrices, with all that a GemmProblem can ask for and the operation
/// Gemm does not: alpha and beta.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "01_serial/gemm.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/shapes.hpp"

namespace stagewise::cross_stage {

/// Expects `multiply(problem)` to compute what stage 01 computes, with operands in the GPU's
/// memory.
template <typename T, typename Multiply>
void expect_gemm_products(const Multiply& multiply) {
  struct Factors {
    T alpha;
    T beta;
  };
  for (const Product& p : products) {
    for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
      for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
        for (const Factors factors :
             {Factors{1, 0}, Factors{T{0.75}, T{-1.25}}, Factors{0, T{0.5}}}) {
          if (p.m > 100'000) continue;  // takes long; the test Products has it
          const std::vector<T> a = random_values<T>(p.m * p.k, 1);
          const std::vector<T> b = random_values<T>(p.k * p.n, 2, -1, 2);
          std::vector<T> c =
              factors.beta == 0 ? poison<T>(p.m * p.n) : random_values<T>(p.m * p.n, 3);
          c.push_back(poison<T>(1)[0]);  // nobody is to touch what comes behind
          CudaArray there_a(a);
          CudaArray there_b(b);
          CudaArray there_c(c);
          GemmProblem<T> problem = {.op_a = op_a,
                                    .op_b = op_b,
                                    .m = p.m,
                                    .n = p.n,
                                    .k = p.k,
                                    .alpha = factors.alpha,
                                    .a = there_a.get(),
                                    .b = there_b.get(),
                                    .beta = factors.beta,
                                    .c = there_c.get()};
          multiply(problem);
          problem.a = a.data();
          problem.b = b.data();
          problem.c = c.data();
          serial::gemm(serial::GemmVariant::reordered, problem);
          expect_within_units("gemm " + name_of(p) + (op_a == Transpose::yes ? " A^T" : "") +
                                  (op_b == Transpose::yes ? " B^T" : "") + ", alpha " +
                                  std::to_string(factors.alpha) + ", beta " +
                                  std::to_string(factors.beta),
                              8 + 2 * std::sqrt(static_cast<double>(p.k)), there_c.read(), c);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace stagewise::cross_stage
