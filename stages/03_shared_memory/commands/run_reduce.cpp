// The subcommand reduce.

#include "01_serial/reduce.hpp"
#include "03_shared_memory/commands/runner.hpp"
#include "03_shared_memory/ladder_commands.hpp"
#include "03_shared_memory/reduce.hpp"
#include "03_shared_memory/references.hpp"
#include "cuda/device.hpp"
#include "tensor/counts.hpp"

namespace stagewise::shared_memory {
namespace {

/// A size that has one default for a sum and another for the columns of a matrix.
Index size_or(const LadderRequest& request, const std::string& name, Index otherwise) {
  const auto found = request.sizes.find(name);
  return found == request.sizes.end() ? otherwise : found->second;
}

LadderReport begin_report(const std::string& problem, double bytes, const std::string& precision) {
  LadderReport report;
  report.header = {{"reduce", problem + ", " + precision},
                   {"check",
                    "equal to stage 01's; inputs are random whole numbers, whose sums "
                    "are exact in any order"}};
  for (const LadderLine& line : floor_of(bytes, 0, precision)) report.header.push_back(line);
  report.tables.emplace_back().heading = "rung";
  return report;
}

void mark_pick(LadderTable& table) {
  for (LadderRow& row : table.rows) row.picked = row.name == default_reduce_rung;
}

template <typename T>
LadderReport run_sum(const LadderRequest& request) {
  const Index n = size_or(request, "n", 1 << 20);
  const double bytes = sizeof(T) * static_cast<double>(n);
  check_memory("the sum of " + count_of(n, "number") + " in " + request.precision, bytes, bytes);

  Random random(request.seed);
  const auto host_x = random_whole_numbers<T>(n, random);
  Runner runner(request);
  auto x = on_device<T>(n);
  auto out = on_device<T>(1);
  copy_in(runner.stream(), host_x, x);
  std::vector<T> expected(1);
  serial::sum(n, host_x.data(), expected.data());

  Runner::Work work;
  work.prepare = [&] { poison(runner.stream(), out); };
  work.verify = [&](LadderRow& row) {
    note_difference(row, copy_out(runner.stream(), out, 1), expected, 1, 1, 0);
  };
  LadderReport report =
      begin_report("the sum of " + count_of(n, "number"), bytes, request.precision);
  LadderTable& table = report.tables.front();
  table.reference_name = "CUB";
  const LadderRow row{.bytes = bytes};
  if constexpr (has_cub) {
    auto helper = on_device<std::byte>(static_cast<Index>(reference_sum_bytes<T>(n)));
    LadderRow& own = table.reference_rows.emplace_back(row);
    own.name = "CUB";
    work.enqueue = [&] {
      reference_sum(runner.stream().get(), n, x.data(), out.data(), helper.data(),
                    static_cast<std::size_t>(helper.elements()));
    };
    runner.run(own, work);
  }
  const SumProblem<T> problem{.n = n, .x = x.data(), .out = out.data()};
  table.rows = runner.run_rungs(sum_ladder<T>(), request.rung, problem, row, work);
  mark_pick(table);
  return report;
}

template <typename T>
LadderReport run_sum_rows(const LadderRequest& request) {
  const Index rows = request.sizes.at("m");
  const Index cols = size_or(request, "n", 1000);
  const double inputs = sizeof(T) * static_cast<double>(rows) * static_cast<double>(cols);
  const double outputs = sizeof(T) * static_cast<double>(cols);
  // The reference copies half of the matrix: it reads and writes as many bytes as the ladder reads.
  const bool has_copy = !cuda::runs_on_cpu();
  check_memory(
      "the matrix " + shape_text(rows, cols) + " with its column sums in " + request.precision,
      inputs * (has_copy ? 1.5 : 1) + outputs, inputs * (has_copy ? 1.5 : 1) + 2 * outputs);

  Random random(request.seed);
  const auto host_x = random_whole_numbers<T>(rows * cols, random);
  Runner runner(request);
  auto x = on_device<T>(rows * cols);
  auto out = on_device<T>(cols);
  copy_in(runner.stream(), host_x, x);
  std::vector<T> expected(static_cast<std::size_t>(cols));
  serial::sum_rows(rows, cols, host_x.data(), expected.data());

  Runner::Work work;
  LadderReport report = begin_report("the column sums of " + shape_text(rows, cols),
                                     inputs + outputs, request.precision);
  LadderTable& table = report.tables.front();
  table.reference_name = "copy";
  if (has_copy) {
    const Index half = std::max<Index>(rows * cols / 2, 1);
    const auto copied = static_cast<double>(half) * sizeof(T);
    auto y = on_device<T>(half);
    LadderRow& own = table.reference_rows.emplace_back(LadderRow{.bytes = 2 * copied});
    own.name = "copy";
    work.prepare = [&] { poison(runner.stream(), y); };
    work.enqueue = [&] { copy_over(runner.stream(), half, x.data(), y.data()); };
    work.verify = [&](LadderRow& row) {
      note_difference(row, copy_out(runner.stream(), y, half), host_x, 1, half, 0);
    };
    work.also_without_graph = true;
    runner.run(own, work);
    work.also_without_graph = false;
  }
  work.prepare = [&] { poison(runner.stream(), out); };
  work.verify = [&](LadderRow& row) {
    note_difference(row, copy_out(runner.stream(), out, cols), expected, 1, cols, 0);
  };
  const SumRowsProblem<T> problem{.rows = rows, .cols = cols, .x = x.data(), .out = out.data()};
  table.rows = runner.run_rungs(sum_rows_ladder<T>(), request.rung, problem,
                                LadderRow{.bytes = inputs + outputs}, work);
  mark_pick(table);
  return report;
}

}  // namespace

LadderReport run_reduce(const LadderRequest& request) {
  const bool in_double = request.precision == "double";
  if (!request.sizes.contains("m")) {
    return in_double ? run_sum<double>(request) : run_sum<float>(request);
  }
  return in_double ? run_sum_rows<double>(request) : run_sum_rows<float>(request);
}

}  // namespace stagewise::shared_memory
