// The subcommand gemm.

#include <cmath>
#include <limits>
#include <memory>

#include "01_serial/gemm.hpp"
#include "03_shared_memory/commands/runner.hpp"
#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/ladder_commands.hpp"
#include "03_shared_memory/references.hpp"
#include "app/text.hpp"

namespace stagewise::shared_memory {
namespace {

/// "C [2, 4] = 2 A [2, 3] B^T + 5 C, B [4, 3], float"
std::string describe(const LadderRequest& request, Index m, Index n, Index k) {
  const auto factor = [](double value) { return value == 1 ? "" : shortest(value) + " "; };
  std::string text = "C " + shape_text(m, n) + " = " + factor(request.alpha);
  text += request.transpose_a ? "A^T B" : "A B";
  if (request.transpose_b) text += "^T";
  if (request.beta != 0) {
    text += (request.beta < 0 ? " - " : " + ") + factor(std::abs(request.beta)) + "C";
  }
  text += ", A " + (request.transpose_a ? shape_text(k, m) : shape_text(m, k));
  text += ", B " + (request.transpose_b ? shape_text(n, k) : shape_text(k, n));
  return text + ", " + request.precision;
}

/// How far an element may be from stage 01's.
///
/// An element of A B is a sum of k products of numbers that are uniform in [-1, 1), each with a
/// deviation of 1/3: it deviates by sqrt(k) / 3, and C by 1 / sqrt(3). Added up one after the
/// other, each of the k sums is rounded by at most half an epsilon of itself, to either side:
/// together, that deviates by about 0.2 epsilon sqrt(k) of the element's own deviation, less in any
/// order that adds in parts. Four epsilon sqrt(k) are twenty times as much, room for the worst of
/// any number of elements and for stage 01's own rounding. A product that is left out is more than
/// that as long as k is below a million in float.
template <typename T>
double bound_of(Index k, double alpha, double beta) {
  const auto length = static_cast<double>(k);
  const double deviation = std::hypot(alpha * std::sqrt(length) / 3, beta / std::sqrt(3.0));
  return 4 * std::numeric_limits<T>::epsilon() * std::sqrt(length) * deviation +
         2 * std::numeric_limits<T>::denorm_min();
}

/// Stage 01's result for the same inputs, in double.
template <typename T>
std::vector<double> compute_expected(const GemmProblem<T>& p, const std::vector<T>& a,
                                     const std::vector<T>& b, const std::vector<T>& c) {
  const std::vector<double> wide_a(a.begin(), a.end());
  const std::vector<double> wide_b(b.begin(), b.end());
  std::vector<double> wide_c(c.begin(), c.end());
  serial::gemm<double>(serial::GemmForm::blas, {.op_a = p.op_a,
                                                .op_b = p.op_b,
                                                .m = p.m,
                                                .n = p.n,
                                                .k = p.k,
                                                .alpha = static_cast<double>(p.alpha),
                                                .a = wide_a.data(),
                                                .b = wide_b.data(),
                                                .beta = static_cast<double>(p.beta),
                                                .c = wide_c.data()});
  return wide_c;
}

template <typename T>
LadderReport run_gemm_in(const LadderRequest& request) {
  const Index m = request.sizes.at("m");
  const Index n = request.sizes.at("n");
  const Index k = request.sizes.at("k");
  if (std::abs(request.alpha) * static_cast<double>(k) + std::abs(request.beta) >
      static_cast<double>(std::numeric_limits<T>::max()) / 4) {
    throw UsageError("--alpha " + shortest(request.alpha) + " and --beta " +
                     shortest(request.beta) + " make numbers that are too large for " +
                     request.precision);
  }
  const auto factors = static_cast<double>(m) * static_cast<double>(k) +
                       static_cast<double>(k) * static_cast<double>(n);
  const auto results = static_cast<double>(m) * static_cast<double>(n);
  const double bytes = sizeof(T) * (factors + results * (request.beta == 0 ? 1 : 2));
  const double operations = 2 * results * static_cast<double>(k);
  check_memory("the product of A " + shape_text(m, k) + " and B " + shape_text(k, n) + " in " +
                   request.precision,
               sizeof(T) * (factors + results) + (has_cublas ? ReferenceGemm::workspace_bytes : 0),
               (sizeof(T) + sizeof(double)) * (factors + results) + 2 * sizeof(T) * results);

  Random random(request.seed);
  const auto host_a = random_numbers<T>(m * k, random);
  const auto host_b = random_numbers<T>(k * n, random);
  const auto host_c = random_numbers<T>(m * n, random);
  Runner runner(request);
  auto a = on_device<T>(m * k);
  auto b = on_device<T>(k * n);
  auto c = on_device<T>(m * n);
  copy_in(runner.stream(), host_a, a);
  copy_in(runner.stream(), host_b, b);
  const GemmProblem<T> problem{.op_a = request.transpose_a ? Transpose::yes : Transpose::no,
                               .op_b = request.transpose_b ? Transpose::yes : Transpose::no,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = static_cast<T>(request.alpha),
                               .a = a.data(),
                               .b = b.data(),
                               .beta = static_cast<T>(request.beta),
                               .c = c.data()};
  const std::vector<double> expected = compute_expected(problem, host_a, host_b, host_c);
  const double bound = bound_of<T>(k, request.alpha, request.beta);

  std::vector<T> by_reference;
  Runner::Work work;
  work.prepare = [&] {
    if (problem.beta == 0) {
      poison(runner.stream(), c);
    } else {
      copy_in(runner.stream(), host_c, c);
    }
  };
  work.verify = [&](LadderRow& row) {
    const std::vector<T> found = copy_out(runner.stream(), c, m * n);
    note_difference(row, found, expected, m, n, bound);
    if (by_reference.empty()) return;
    row.reference_difference =
        compare_values(std::span<const T>(found), std::span<const T>(by_reference)).relative;
  };

  LadderReport report;
  report.header = {{"gemm", describe(request, m, n, k)},
                   {"check", "each element is at most " + scientific(bound) +
                                 " from stage 01's in double; inputs are random in [-1, 1)"}};
  for (const LadderLine& line : floor_of(bytes, operations, request.precision)) {
    report.header.push_back(line);
  }
  LadderTable& table = report.tables.emplace_back();
  table.heading = "rung";
  table.reference_name = "cuBLAS";
  const LadderRow row{.operations = operations, .bytes = bytes};
  if constexpr (has_cublas) {
    ReferenceGemm cublas;
    LadderRow& own = table.reference_rows.emplace_back(row);
    own.name = "cuBLAS";
    work.enqueue = [&] { cublas.run(runner.stream().get(), problem); };
    runner.run(own, work);
    work.prepare();
    work.enqueue();
    by_reference = copy_out(runner.stream(), c, m * n);
  }
  table.rows = runner.run_rungs(gemm_ladder<T>(), request.rung, problem, row, work);
  const std::string_view pick = pick_gemm(problem).name;
  for (LadderRow& rung : table.rows) rung.picked = rung.name == pick;
  return report;
}

}  // namespace

LadderReport run_gemm(const LadderRequest& request) {
  return request.precision == "double" ? run_gemm_in<double>(request) : run_gemm_in<float>(request);
}

}  // namespace stagewise::shared_memory
