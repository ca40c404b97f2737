/// @file
/// What the ladders share: memory, verification, measurement.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "cli/status_line.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/ladder.hpp"
#include "cuda/memory.hpp"
#include "cuda/workspace.hpp"
#include "ladders/program/options.hpp"
#include "ladders/program/results.hpp"
#include "ladders/program/table.hpp"
#include "tensor/error.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::ladder {

/// Refuses a problem that does not fit, before allocating any of it: a system that runs out of
/// memory may kill the program without a message. The sizes are doubles, because the product of two
/// sizes may overflow an integer.
/// @param problem "the sum of 8 numbers in float".
/// @param device_bytes, host_bytes the memory that the problem takes.
/// @throws Error naming the problem, the memory that it needs and the free memory.
void check_memory(const std::string& problem, double device_bytes, double host_bytes);

/// Prints what the program runs on, the lines, and the minimum time on the GPU, given by the speed
/// of its memory and, if there is arithmetic, of its units.
void print_problem(std::vector<Line> lines, double bytes, double operations, const std::string& precision);

/// "[800, 1000]".
std::string shape_text(Index rows, Index cols);

/// The rows of the requested rungs, to be run; none where the ladder has no such rung.
/// @param wanted the rung's name, or all.
/// @param row what the rows have in common.
/// @param picked the name of stage 03's own choice.
/// @throws Error if a rung requested by name cannot be used.
template <typename Problem>
std::vector<Row> rows_of(Ladder<Problem> ladder, const std::string& wanted, const Problem& problem, Row row,
                         std::string_view picked = {}) {
  const bool all = wanted == "all";
  std::vector<Row> rows;
  for (const Rung<Problem>& rung : ladder) {
    if (!all && rung.name != wanted) continue;
    row.name = rung.name;
    row.file = rung.file;
    row.idea = rung.idea;
    if (all) row.group = rung.group;
    row.tile = rung.tile;
    row.picked = rung.name == picked;
    row.skipped = rung.supports(problem).reason;
    if (!all && !row.skipped.empty()) {
      throw Error("the rung " + row.name + " cannot be used here: " + row.skipped);
    }
    rows.push_back(row);
  }
  return rows;
}

/// The same.
/// @throws UsageError if there is no such rung.
template <typename Problem>
std::vector<Row> rows_for(Ladder<Problem> ladder, const std::string& wanted, const Problem& problem, const Row& row,
                          std::string_view picked) {
  if (wanted != "all") find_rung(ladder, wanted);
  return rows_of(ladder, wanted, problem, row, picked);
}

/// The middle one, or the greater of two.
double median(std::vector<double> values);

/// What is shown of rows that are measured so often, or counted.
Measured measured_in(Index repetitions, bool is_counted);

/// Memory for n elements on the GPU.
template <typename T>
Tensor<T> on_device(Index n, CodeLine asker = CodeLine::here()) {
  return Tensor<T>({n}, cuda::device_memory(), asker);
}

/// Copies all of `from` to the GPU; the copy is complete on return.
template <typename T>
void copy_in(const cuda::Stream& stream, const std::vector<T>& from, Tensor<T>& to) {
  CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream.get()));
  stream.synchronize();
}

/// Copies n elements to the host.
template <typename T>
std::vector<T> copy_out(const cuda::Stream& stream, const T* from, Index n) {
  std::vector<T> to(static_cast<std::size_t>(n));
  CUDA_CHECK(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return to;
}

/// Enqueues a copy within GPU memory.
template <typename T>
void copy_over(const cuda::Stream& stream, Index n, const T* from, T* to) {
  CUDA_CHECK(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice, stream.get()));
}

/// Enqueues setting all elements to NaN, so that an element that is not written shows.
template <typename T>
void poison(const cuda::Stream& stream, Tensor<T>& tensor) {
  CUDA_CHECK(
      cudaMemsetAsync(tensor.data(), 0xff, static_cast<std::size_t>(tensor.elements()) * sizeof(T), stream.get()));
}

/// Runs, verifies and measures kernels.
class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {}

  /// The parts of a run.
  struct Work {
    std::function<void()> prepare;     ///< sets inputs and outputs to their state before the run
    std::function<void()> enqueue;     ///< what is verified and measured
    std::function<void(Row&)> verify;  ///< checks the outputs
    std::function<void()> overhead;    ///< the part of `enqueue` to exclude from the time, or empty
    std::function<void()> first;       ///< the part of `enqueue` to measure by itself, too, or empty

    /// Whether it may be faster without a graph; the faster time then counts. For copies, which are
    /// references.
    bool also_without_graph = false;
  };

  /// Work on an output of rows x columns that is compared with what is expected; both must outlive
  /// it. What it enqueues is left to the caller.
  template <typename T, typename Expected>
  Work work_on(Tensor<T>& output, const std::vector<Expected>& expected, Index rows, Index columns) const {
    return {.prepare = [&] { poison(stream_, output); },
            .enqueue = {},
            .verify =
                [&, rows, columns](Row& row) {
                  note_difference(row, copy_out(stream_, output.data(), rows * columns), expected, rows, columns);
                }};
  }

  /// Runs, verifies and, if the results are right, measures.
  void run(Row& row, const Work& work);

  /// The same for each row of a table that is not skipped; prints each when it is done.
  void run(Table& table, const std::function<Work(const Row&)>& work_of);

  /// The same for rungs.
  /// @param work the work of each, except for `enqueue`.
  template <typename Problem>
  void run(Table& table, Ladder<Problem> ladder, const Problem& problem, Work work) {
    run(table, [&](const Row& row) {
      work.enqueue = [&, rung = &find_rung(ladder, row.name)] { rung->run(stream_.get(), problem, workspace_); };
      work.first = nullptr;
      if (const auto prepare = find_rung(ladder, row.name).prepare; prepare != nullptr) {
        work.first = [&, prepare] { prepare(stream_.get(), problem, workspace_); };
      }
      return work;
    });
  }

  const cuda::Stream& stream() const { return stream_; }
  /// For kernels that need memory besides their operands.
  Workspace& workspace() { return workspace_; }

 private:
  /// Verifies what was run, and if it is wrong, says whether the order of the threads matters.
  static void verify(Row& row, const Work& work);
  double measure(const std::function<void()>& enqueue, double first, bool also_without_graph) const;

  const Options& options_;
  StatusLine status_;  // some rungs take minutes
  cuda::Stream stream_;
  Workspace workspace_;
};

/// The largest allowed difference of a sum from stage 01's.
///
/// If the terms are added one after another, each partial sum is rounded by at most half an epsilon
/// of itself, up or down: together, the errors have a standard deviation of about 0.2 epsilon
/// sqrt(terms) times that of the sum, and less in any order that adds in parts. Four epsilon
/// sqrt(terms) are twenty times as much, enough for the worst of any number of sums and for stage
/// 01's own rounding. A missing term exceeds the bound as long as there are fewer than a million of
/// them in float.
/// @param deviation the standard deviation of the sum.
template <typename T>
double bound_of_sum(double terms, double deviation) {
  return 4 * std::numeric_limits<T>::epsilon() * std::sqrt(terms) * deviation +
         2 * std::numeric_limits<T>::denorm_min();
}

/// Uniform in [-1, 1).
template <typename T>
std::vector<T> random_numbers(Index n, Random& random) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random.uniform(-1, 1));
  return values;
}

/// Whole numbers from -99 to 99: their sum is exact in any order of addition, as long as it has no
/// more digits than a float, a limit that 2^31 of them will not reach. So one element too many or
/// too few shows, however many there are.
template <typename T>
std::vector<T> random_whole_numbers(Index n, Random& random) {
  constexpr int largest = 99;
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random.below(2 * largest + 1)) - largest;
  return values;
}

}  // namespace stagewise::ladder
