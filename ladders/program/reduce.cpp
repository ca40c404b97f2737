// The subcommand reduce.

#include "01_serial/reduce.hpp"

#include <CLI/CLI.hpp>

#include "cuda/device.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/references.hpp"
#include "ladders/program/runner.hpp"
#include "ladders/reduce/reduce.hpp"
#include "ladders/reduce/serial.hpp"
#include "tensor/counts.hpp"

namespace stagewise::ladder {
namespace {

using shared_memory::default_reduce_rung;

void print_sum(const std::string& problem, double bytes, const std::string& precision) {
  print_problem({{"reduce", problem + ", " + precision},
                 {"check",
                  "equal to stage 01's; inputs are random whole numbers, whose sums "
                  "are exact in any order"}},
                bytes, 0, precision);
}

template <typename T>
Table run_sum(const ReduceOptions& options) {
  const Index n = options.n > 0 ? options.n : 1 << 20;
  const double bytes = sizeof(T) * static_cast<double>(n);
  check_memory("the sum of " + count_of(n, "number") + " in " + options.precision, bytes, bytes);

  Random random(options.seed);
  const auto host_x = random_whole_numbers<T>(n, random);
  Runner runner(options);
  auto x = on_device<T>(n);
  auto out = on_device<T>(1);
  copy_in(runner.stream(), host_x, x);
  std::vector<T> expected(1);
  serial::sum(n, host_x.data(), expected.data());

  Runner::Work work = runner.work_on(out, expected, 1, 1);
  const shared_memory::SumProblem<T> problem{.n = n, .x = x.data(), .out = out.data()};
  const auto ladder = shared_memory::sum_ladder<T>();
  Table table{.reference_name = "CUB",
              .rows = rows_for(ladder, options.rung, problem, {.bytes = bytes}, default_reduce_rung)};
  print_sum("the sum of " + count_of(n, "number"), bytes, options.precision);
  if constexpr (has_nvcc) {
    auto helper = on_device<std::byte>(static_cast<Index>(reference_sum_bytes<T>(n)));
    table.reference = {.name = "CUB", .bytes = bytes};
    work.enqueue = [&] {
      reference_sum(runner.stream().get(), n, x.data(), out.data(), helper.data(),
                    static_cast<std::size_t>(helper.elements()));
    };
    runner.run(*table.reference, work);
  }
  runner.run(table, ladder, problem, work);
  return table;
}

template <typename T>
Table run_column_sums(const ReduceOptions& options) {
  const Index rows = options.m;
  const Index cols = options.n > 0 ? options.n : 1000;
  const double inputs = sizeof(T) * static_cast<double>(rows) * static_cast<double>(cols);
  const double outputs = sizeof(T) * static_cast<double>(cols);
  // The reference copies half of the matrix: it reads and writes as many bytes as the ladder reads.
  const bool has_copy = !cuda::runs_on_cpu();
  check_memory("the matrix " + shape_text(rows, cols) + " with its column sums in " + options.precision,
               inputs * (has_copy ? 1.5 : 1) + outputs, inputs * (has_copy ? 1.5 : 1) + 2 * outputs);

  Random random(options.seed);
  const auto host_x = random_whole_numbers<T>(rows * cols, random);
  Runner runner(options);
  auto x = on_device<T>(rows * cols);
  auto out = on_device<T>(cols);
  copy_in(runner.stream(), host_x, x);
  std::vector<T> expected(static_cast<std::size_t>(cols));
  serial::column_sums(rows, cols, host_x.data(), expected.data());

  const shared_memory::ColumnSumsProblem<T> problem{.rows = rows, .cols = cols, .x = x.data(), .out = out.data()};
  const auto ladder = shared_memory::column_sums_ladder<T>();
  const Row common{.bytes = inputs + outputs};
  Table table{.reference_name = "copy", .rows = rows_for(ladder, options.rung, problem, common, default_reduce_rung)};
  print_sum("the column sums of " + shape_text(rows, cols), common.bytes, options.precision);
  if (has_copy) {
    const Index half = std::max<Index>(rows * cols / 2, 1);
    auto y = on_device<T>(half);
    table.reference = {.name = "copy", .bytes = 2 * sizeof(T) * static_cast<double>(half)};
    Runner::Work copy = runner.work_on(y, host_x, 1, half);
    copy.enqueue = [&] { copy_over(runner.stream(), half, x.data(), y.data()); };
    copy.also_without_graph = true;
    runner.run(*table.reference, copy);
  }
  runner.run(table, ladder, problem, runner.work_on(out, expected, 1, cols));
  return table;
}

}  // namespace

void declare(CLI::App& command, ReduceOptions& options) {
  add_size(command, "m", "rows of a matrix whose columns are added up", options.m);
  add_size(command, "n", "numbers to add up [1048576], or columns of the matrix [1000]", options.n);
  add_options(command, options, names_of(shared_memory::sum_ladder<float>()));
}

Results run(const ReduceOptions& options) {
  const bool in_double = options.precision == "double";
  Results results{"reduce", nlohmann::ordered_json::object(), {}};
  if (options.m > 0) results.problem["m"] = options.m;
  if (options.n > 0) results.problem["n"] = options.n;
  if (options.m > 0) {
    results.tables = {in_double ? run_column_sums<double>(options) : run_column_sums<float>(options)};
  } else {
    results.tables = {in_double ? run_sum<double>(options) : run_sum<float>(options)};
  }
  return results;
}

}  // namespace stagewise::ladder
