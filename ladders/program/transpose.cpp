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

using shared_memory::TransposeProblem;

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

/// A matrix that an output is compared with.
template <typename T>
struct Expected {
  Index rows;
  Index cols;
  std::vector<T> values;
};

template <typename T>
Expected<T> random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return {rows, cols, random_numbers<T>(rows * cols, random)};
}

/// The matrix with a first column of ones.
template <typename T>
Expected<T> with_ones(const Expected<T>& x) {
  Expected<T> wide{x.rows, x.cols + 1, {}};
  wide.values.reserve(static_cast<std::size_t>(wide.rows * wide.cols));
  for (auto row = x.values.begin(); row != x.values.end(); row += x.cols) {
    wide.values.push_back(1);
    wide.values.insert(wide.values.end(), row, row + x.cols);
  }
  return wide;
}

/// The operands of all work on one matrix, and how each piece of it is run.
template <typename T>
class Matrix {
 public:
  explicit Matrix(const TransposeOptions& options)
      : rows_(options.m),
        cols_(options.n),
        runner_(options),
        narrow_(random_matrix<T>(rows_, cols_, options.seed)),
        ones_(with_ones(narrow_)) {
    copy_in(runner_.stream(), narrow_.values, x_);
    copy_in(runner_.stream(), ones_.values, wide_);
  }

  /// The rungs that were asked for; none where `rung` is work on the column of ones.
  std::vector<Row> rungs(const std::string& rung) {
    return rows_of(ladder_, rung, problem(), {.bytes = bytes(2 * rows_ * cols_)},
                   shared_memory::default_transpose_rung);
  }

  /// The work on the column of ones that was asked for; none where `rung` is of the ladder.
  std::vector<Row> columns(const std::string& rung) const {
    std::vector<Row> rows;
    for (const ColumnWork& work : column_work) {
      if (rung != "all" && rung != work.name) continue;
      rows.push_back({.name = work.name,
                      .file = work.in_place ? "ladders/transpose/shift.cu"
                                            : "ladders/transpose/insert_ones.cu",
                      .idea = work.idea,
                      .bytes = work.passes() * bytes(rows_ * (2 * cols_ + 1))});
    }
    return rows;
  }

  /// The reference, measured.
  Row copy() {
    Row row{.name = "copy", .bytes = bytes(2 * rows_ * cols_)};
    runner_.run(row, {.prepare = [&] { poison(runner_.stream(), y_); },
                      .enqueue = [&] { copy_to_y(x_); },
                      .verify = expecting(narrow_),
                      .also_without_graph = true});
    return row;
  }

  void run_rungs(Table& table) {
    Expected<T> expected{cols_, rows_, std::vector<T>(narrow_.values.size())};
    serial::transpose(rows_, cols_, narrow_.values.data(), expected.values.data());
    runner_.run(table, ladder_, problem(),
                {.prepare = [&] { poison(runner_.stream(), y_); },
                 .enqueue = {},
                 .verify = expecting(expected)});
  }

  void run_columns(Table& table) {
    runner_.run(table, [&](const Row& row) {
      return work_of(*std::find_if(column_work.begin(), column_work.end(),
                                   [&](const ColumnWork& work) { return row.name == work.name; }));
    });
  }

 private:
  TransposeProblem<T> problem() {
    return {.rows = rows_, .cols = cols_, .x = x_.data(), .y = y_.data()};
  }

  Runner::Work work_of(const ColumnWork& column) {
    cudaStream_t stream = runner_.stream().get();
    const bool adds = column.adds;
    const bool removes = column.removes;
    Runner::Work work;
    work.prepare = [this] { poison(runner_.stream(), y_); };
    work.verify = expecting(removes ? narrow_ : ones_);
    if (!column.in_place) {
      work.enqueue = [=, this] {
        if (adds) {
          shared_memory::insert_ones(stream, rows_, cols_, x_.data(), y_.data());
        } else {
          shared_memory::remove_column(stream, rows_, cols_, wide_.data(), y_.data());
        }
      };
      return work;
    }
    // In place, there is nothing left to do a second time: each run begins with a fresh copy, whose
    // time is measured by itself and taken off.
    work.overhead = [=, this] { copy_to_y(adds ? x_ : wide_); };
    work.enqueue = [=, this, copy = work.overhead] {
      copy();
      if (adds) shared_memory::shift_right(stream, rows_, cols_, y_.data(), helper_.data());
      if (removes) shared_memory::shift_left(stream, rows_, cols_, y_.data(), helper_.data());
    };
    return work;
  }

  static double bytes(Index elements) { return sizeof(T) * static_cast<double>(elements); }

  void copy_to_y(const Tensor<T>& from) {
    copy_over(runner_.stream(), from.elements(), from.data(), y_.data());
  }

  /// Compares the first elements of y_. `expected` must live on.
  std::function<void(Row&)> expecting(const Expected<T>& expected) {
    return [this, &expected](Row& row) {
      const Index elements = expected.rows * expected.cols;
      note_difference(row, copy_out(runner_.stream(), y_, elements), expected.values, expected.rows,
                      expected.cols);
    };
  }

  Index rows_;
  Index cols_;
  Ladder<TransposeProblem<T>> ladder_ = shared_memory::transpose_ladder<T>();
  Runner runner_;
  Expected<T> narrow_;
  Expected<T> ones_;  ///< the same behind a column of ones
  Tensor<T> x_ = on_device<T>(rows_ * cols_);
  Tensor<T> wide_ = on_device<T>(rows_ * (cols_ + 1));
  Tensor<T> y_ = on_device<T>(rows_ * (cols_ + 1));
  Tensor<T> helper_ = on_device<T>(shared_memory::shift_helper_elements(rows_, cols_));
};

template <typename T>
std::vector<Table> run_transpose(const TransposeOptions& options) {
  const auto height = static_cast<double>(options.m);
  const auto width = static_cast<double>(options.n);
  // The helper is never larger than the matrix.
  const double needed = sizeof(T) * height * (4 * width + 2);
  check_memory("the matrix " + shape_text(options.m, options.n) +
                   " with its copies and a helper in " + options.precision,
               needed, needed);

  Matrix<T> matrix(options);
  Table rungs{"rung", "copy", matrix.rungs(options.rung), {}};
  Table columns{"column of ones", "copy", matrix.columns(options.rung), {}};
  print_problem({{"matrix", shape_text(options.m, options.n) + ", " + options.precision},
                 {"check", "equal to stage 01's transpose, or to what plain loops make of it"}},
                2 * sizeof(T) * height * width, 0, options.precision);
  if (!cuda::runs_on_cpu()) rungs.reference = columns.reference = matrix.copy();
  std::vector<Table> tables;
  if (!rungs.rows.empty()) {
    matrix.run_rungs(rungs);
    tables.push_back(rungs);
  }
  if (!columns.rows.empty()) {
    matrix.run_columns(columns);
    tables.push_back(columns);
  }
  return tables;
}

}  // namespace

void declare(CLI::App& command, TransposeOptions& options) {
  add_size(command, "m", "rows", options.m);
  add_size(command, "n", "columns", options.n);
  std::vector<std::string> rungs =
      names_of(shared_memory::transpose_ladder<float>(), shared_memory::transpose_ladder<double>());
  for (const ColumnWork& work : column_work) rungs.emplace_back(work.name);
  add_options(command, options, rungs);
}

Results run(const TransposeOptions& options) {
  return {"transpose",
          {{"m", options.m}, {"n", options.n}},
          options.precision == "double" ? run_transpose<double>(options)
                                        : run_transpose<float>(options)};
}

}  // namespace stagewise::ladder
