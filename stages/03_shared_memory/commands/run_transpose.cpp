// The subcommand transpose.

#include <algorithm>

#include "01_serial/transpose.hpp"
#include "03_shared_memory/commands/runner.hpp"
#include "03_shared_memory/fold_bias/shift.hpp"
#include "03_shared_memory/ladder_commands.hpp"
#include "03_shared_memory/transpose.hpp"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {
namespace {

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
  explicit Matrix(const LadderRequest& request)
      : rows_(request.sizes.at("m")),
        cols_(request.sizes.at("n")),
        runner_(request),
        narrow_(random_matrix<T>(rows_, cols_, request.seed)),
        ones_(with_ones(narrow_)) {
    copy_in(runner_.stream(), narrow_.values, x_);
    copy_in(runner_.stream(), ones_.values, wide_);
  }

  LadderRow copy() {
    LadderRow row{.name = "copy", .bytes = bytes(2 * rows_ * cols_)};
    runner_.run(row, {.prepare = [&] { poison(runner_.stream(), y_); },
                      .enqueue = [&] { copy_x(); },
                      .verify = expecting(narrow_),
                      .also_without_graph = true});
    return row;
  }

  std::vector<LadderRow> transpose_by(const std::string& rung) {
    const TransposeProblem<T> problem{.rows = rows_, .cols = cols_, .x = x_.data(), .y = y_.data()};
    Expected<T> expected{cols_, rows_, std::vector<T>(narrow_.values.size())};
    serial::transpose(rows_, cols_, narrow_.values.data(), expected.values.data());
    auto rows = runner_.run_rungs(transpose_ladder<T>(), rung, problem,
                                  LadderRow{.bytes = bytes(2 * rows_ * cols_)},
                                  {.prepare = [&] { poison(runner_.stream(), y_); },
                                   .enqueue = {},
                                   .verify = expecting(expected)});
    for (LadderRow& row : rows) row.picked = row.name == default_transpose_rung;
    return rows;
  }

  /// What is to be done with the column of ones, or none of it where `rung` is of the ladder.
  std::vector<LadderRow> column_by(const std::string& rung) {
    cudaStream_t stream = runner_.stream().get();
    const auto shift_right = [&, stream] {
      shared_memory::shift_right(stream, rows_, cols_, y_.data(), helper_.data());
    };
    const auto shift_left = [&, stream] {
      shared_memory::shift_left(stream, rows_, cols_, y_.data(), helper_.data());
    };
    const auto copy_x = [&] { this->copy_x(); };
    const auto copy_wide = [&] {
      copy_over(runner_.stream(), wide_.elements(), wide_.data(), y_.data());
    };
    const auto wide = expecting(ones_);
    const auto narrow = expecting(narrow_);

    // In place, there is nothing left to do a second time: each run begins with a fresh copy, whose
    // time is measured by itself and taken off.
    std::vector<LadderRow> rows;
    const auto add = [&](const std::string& name, const std::string& idea, const std::string& file,
                         Index passes, const auto& enqueue, const auto& verify,
                         const std::function<void()>& overhead) {
      if (rung != "all" && rung != name) return;
      LadderRow row{.name = name,
                    .file = "stages/03_shared_memory/fold_bias/" + file,
                    .idea = idea,
                    .bytes = static_cast<double>(passes) * bytes(rows_ * (2 * cols_ + 1))};
      runner_.run(row, {.prepare = [&] { poison(runner_.stream(), y_); },
                        .enqueue = enqueue,
                        .verify = verify,
                        .overhead = overhead});
      rows.push_back(row);
    };
    const auto then = [](const auto& first, const auto& second) {
      return [=] {
        first();
        second();
      };
    };
    add(column_work[0], "a column of ones, in place", "shift.cu", 1, then(copy_x, shift_right),
        wide, copy_x);
    add(column_work[1], "without it again, in place", "shift.cu", 1, then(copy_wide, shift_left),
        narrow, copy_wide);
    add(column_work[2], "both, which restores the matrix", "shift.cu", 2,
        then(copy_x, then(shift_right, shift_left)), narrow, copy_x);
    add(column_work[3], "a column of ones, out of place", "insert_ones.cu", 1,
        [&, stream] { insert_ones(stream, rows_, cols_, x_.data(), y_.data()); }, wide, {});
    add(column_work[4], "without it again, out of place", "insert_ones.cu", 1,
        [&, stream] { remove_column(stream, rows_, cols_, wide_.data(), y_.data()); }, narrow, {});
    return rows;
  }

 private:
  static double bytes(Index elements) { return sizeof(T) * static_cast<double>(elements); }

  void copy_x() { copy_over(runner_.stream(), x_.elements(), x_.data(), y_.data()); }

  /// Compares the first elements of y_. `expected` must live on.
  std::function<void(LadderRow&)> expecting(const Expected<T>& expected) {
    return [this, &expected](LadderRow& row) {
      const Index elements = expected.rows * expected.cols;
      note_difference(row, copy_out(runner_.stream(), y_, elements), expected.values, expected.rows,
                      expected.cols, 0);
    };
  }

  Index rows_;
  Index cols_;
  Runner runner_;
  Expected<T> narrow_;
  Expected<T> ones_;  ///< the same behind a column of ones
  Tensor<T> x_ = on_device<T>(rows_ * cols_);
  Tensor<T> wide_ = on_device<T>(rows_ * (cols_ + 1));
  Tensor<T> y_ = on_device<T>(rows_ * (cols_ + 1));
  Tensor<T> helper_ = on_device<T>(shift_helper_elements(rows_, cols_));
};

template <typename T>
LadderReport run_transpose_in(const LadderRequest& request) {
  const Index rows = request.sizes.at("m");
  const Index cols = request.sizes.at("n");
  const auto height = static_cast<double>(rows);
  const auto width = static_cast<double>(cols);
  // The helper is never larger than the matrix.
  check_memory("the matrix " + shape_text(rows, cols) + " with its copies and a helper in " +
                   request.precision,
               sizeof(T) * height * (4 * width + 2), sizeof(T) * height * (4 * width + 2));

  Matrix<T> matrix(request);
  LadderReport report;
  report.header = {{"matrix", shape_text(rows, cols) + ", " + request.precision},
                   {"check", "equal to stage 01's transpose, or to what plain loops make of it"}};
  const double bytes = 2 * sizeof(T) * height * width;
  for (const LadderLine& line : floor_of(bytes, 0, request.precision)) {
    report.header.push_back(line);
  }
  std::vector<LadderRow> reference_rows;
  if (!cuda::runs_on_cpu()) reference_rows.push_back(matrix.copy());
  const auto is_column_work =
      std::find(column_work.begin(), column_work.end(), request.rung) != column_work.end();
  if (!is_column_work) {
    report.tables.push_back({"rung", "copy", matrix.transpose_by(request.rung), reference_rows});
  }
  if (is_column_work || request.rung == "all") {
    report.tables.push_back(
        {"column of ones", "copy", matrix.column_by(request.rung), reference_rows});
  }
  return report;
}

}  // namespace

LadderReport run_transpose(const LadderRequest& request) {
  return request.precision == "double" ? run_transpose_in<double>(request)
                                       : run_transpose_in<float>(request);
}

}  // namespace stagewise::shared_memory
