// The subcommand transpose.

#include "ladders/transpose/transpose.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cuda/device.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/runner.hpp"
#include "ladders/transpose/serial.hpp"
#include "ladders/transpose/shift.hpp"

namespace stagewise::ladder {
namespace {

/// What is done with the column of ones, by the names that --rung takes.
struct ColumnWork {
  const char* name;
  const char* idea;
  bool in_place;
  bool adds;     ///< the column
  bool removes;  ///< it, again

  int passes() const { return (adds ? 1 : 0) + (removes ? 1 : 0); }
};

constexpr std::array<ColumnWork, 5> column_work = {
    {{"shift-right", "a column of ones, in place", true, true, false},
     {"shift-left", "without it again, in place", true, false, true},
     {"shift-both", "both, which restores the matrix", true, true, true},
     {"insert-ones", "a column of ones, out of place", false, true, false},
     {"remove-column", "without it again, out of place", false, false, true}}};

/// The matrix of so many columns with a first column of ones.
template <typename T>
std::vector<T> with_ones(const std::vector<T>& x, Index cols) {
  std::vector<T> wide;
  for (auto row = x.begin(); row != x.end(); row += cols) {
    wide.push_back(1);
    wide.insert(wide.end(), row, row + cols);
  }
  return wide;
}

/// The rows of the work that is asked for; none where `rung` is of the ladder.
/// @param bytes of the matrix with and without the column.
std::vector<Row> rows_of_columns(const std::string& rung, double bytes) {
  std::vector<Row> rows;
  for (const ColumnWork& work : column_work) {
    if (rung != "all" && rung != work.name) continue;
    rows.push_back({.name = work.name,
                    .file = work.in_place ? "ladders/transpose/shift.cu" : "ladders/transpose/insert_ones.cu",
                    .idea = work.idea,
                    .bytes = work.passes() * bytes});
  }
  return rows;
}

template <typename T>
std::vector<Table> run_transpose(const TransposeOptions& o) {
  const Index rows = o.m;
  const Index cols = o.n;
  const auto height = static_cast<double>(rows);
  const auto width = static_cast<double>(cols);
  // The helper is never larger than the matrix.
  const double needed = sizeof(T) * height * (4 * width + 2);
  check_memory("the matrix " + shape_text(rows, cols) + " with its copies and a helper in " + o.precision, needed,
               needed);

  Random random(o.seed);
  const std::vector<T> narrow = random_numbers<T>(rows * cols, random);
  const std::vector<T> wide = with_ones(narrow, cols);
  std::vector<T> transposed(narrow.size());
  serial::transpose(rows, cols, narrow.data(), transposed.data());
  Runner runner(o);
  const cuda::Stream& stream = runner.stream();
  auto x = on_device<T>(rows * cols);
  auto wide_x = on_device<T>(rows * (cols + 1));
  auto y = on_device<T>(rows * (cols + 1));
  auto helper = on_device<T>(shared_memory::shift_helper_elements(rows, cols));
  copy_in(stream, narrow, x);
  copy_in(stream, wide, wide_x);

  const auto ladder = shared_memory::transpose_ladder<T>();
  const shared_memory::TransposeProblem<T> problem{.rows = rows, .cols = cols, .x = x.data(), .y = y.data()};
  const double moved = 2 * sizeof(T) * height * width;
  Table rungs{.reference_name = "copy",
              .rows = rows_of(ladder, o.rung, problem, {.bytes = moved}, shared_memory::default_transpose_rung)};
  Table columns{"column of ones", "copy", rows_of_columns(o.rung, moved + sizeof(T) * height)};
  print_problem({{"matrix", shape_text(rows, cols) + ", " + o.precision},
                 {"check", "equal to stage 01's transpose, or to what plain loops make of it"}},
                moved, 0, o.precision);

  const auto copy_to_y = [&](const Tensor<T>& from) { copy_over(stream, from.elements(), from.data(), y.data()); };
  if (!cuda::runs_on_cpu()) {
    Row copy{.name = "copy", .bytes = moved};
    Runner::Work work = runner.work_on(y, narrow, rows, cols);
    work.enqueue = [&] { copy_to_y(x); };
    work.also_without_graph = true;
    runner.run(copy, work);
    rungs.reference = columns.reference = copy;
  }
  const auto work_of = [&](const Row& row) {
    const ColumnWork column = *std::ranges::find(column_work, row.name, [](const auto& one) { return one.name; });
    Runner::Work work =
        column.removes ? runner.work_on(y, narrow, rows, cols) : runner.work_on(y, wide, rows, cols + 1);
    if (!column.in_place) {
      work.enqueue = [&, column] {
        if (column.adds) {
          shared_memory::insert_ones(stream.get(), rows, cols, x.data(), y.data());
        } else {
          shared_memory::remove_column(stream.get(), rows, cols, wide_x.data(), y.data());
        }
      };
      return work;
    }
    // In place, there is nothing left to do a second time: each run begins with a fresh copy, whose
    // time is measured by itself and taken off.
    work.overhead = [&, column] { copy_to_y(column.adds ? x : wide_x); };
    work.enqueue = [&, column, copy = work.overhead] {
      copy();
      if (column.adds) {
        shared_memory::shift_right(stream.get(), rows, cols, y.data(), helper.data());
      }
      if (column.removes) {
        shared_memory::shift_left(stream.get(), rows, cols, y.data(), helper.data());
      }
    };
    return work;
  };
  std::vector<Table> tables;
  if (!rungs.rows.empty()) {
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the transposed matrix has cols rows
    runner.run(rungs, ladder, problem, runner.work_on(y, transposed, cols, rows));
    tables.push_back(rungs);
  }
  if (!columns.rows.empty()) {
    runner.run(columns, work_of);
    tables.push_back(columns);
  }
  return tables;
}

}  // namespace

void declare(CLI::App& command, TransposeOptions& options) {
  add_size(command, "m", "rows", options.m);
  add_size(command, "n", "columns", options.n);
  std::vector<std::string> rungs = names_of(shared_memory::transpose_ladder<float>());
  for (const ColumnWork& work : column_work) rungs.emplace_back(work.name);
  add_options(command, options, rungs);
}

Results run(const TransposeOptions& options) {
  return {"transpose",
          {{"m", options.m}, {"n", options.n}},
          options.precision == "double" ? run_transpose<double>(options) : run_transpose<float>(options)};
}

}  // namespace stagewise::ladder
