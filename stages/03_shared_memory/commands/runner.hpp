/// @file
/// What the ladders' subcommands share: memory, verification, measurement.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "03_shared_memory/ladder.hpp"
#include "03_shared_memory/workspace.hpp"
#include "app/ladder.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "tensor/error.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"
#include "verify/differences.hpp"
#include "verify/values.hpp"

namespace stagewise::shared_memory {

/// Refuses what does not fit, before any of it is allocated: a system that runs out of memory may
/// end the program without a word. In double, as the product of two sizes may be no number of
/// bytes.
/// @param problem "the sum of 8 numbers in float".
/// @param device_bytes, host_bytes that the problem takes.
/// @throws Error naming the problem, what it needs and what is free.
void check_memory(const std::string& problem, double device_bytes, double host_bytes);

/// The line "floor": how long the GPU takes at least, by the speed of its memory and, where there
/// is arithmetic, by its units. Nothing where kernels run on the CPU.
std::vector<LadderLine> floor_of(double bytes, double operations, const std::string& precision);

/// "[800, 1000]".
std::string shape_text(Index rows, Index cols);

/// Where the kernels of a subcommand run.
class Runner {
 public:
  explicit Runner(const LadderRequest& request)
      : repetitions_(request.repetitions), announce_(request.announce) {}

  /// What a run is made of.
  struct Work {
    std::function<void()> prepare;  ///< puts inputs and outputs into the state before the run
    std::function<void()> enqueue;  ///< what is verified and measured
    std::function<void(LadderRow&)> verify;  ///< looks at the outputs
    std::function<void()> overhead;  ///< the part of `enqueue` that is not measured, or empty

    /// Whether it may be faster outside of a graph, which is then what counts: copies, as
    /// references.
    bool also_without_graph = false;
  };

  /// Runs, verifies and, if it is right, measures.
  void run(LadderRow& row, const Work& work) const;

  /// The same for each rung that was asked for.
  /// @param row what the rows have in common.
  /// @throws Error if it was asked for by name and cannot be used.
  template <typename Problem>
  std::vector<LadderRow> run_rungs(Ladder<Problem> ladder, const std::string& wanted,
                                   const Problem& problem, const LadderRow& row, Work work);

  const cuda::Stream& stream() const { return stream_; }

 private:
  /// Verifies what was run, and if it is wrong, says whether the order of the threads matters.
  static void verify(LadderRow& row, const Work& work);
  double measure(const std::function<void()>& enqueue, double first, bool also_without_graph) const;

  Index repetitions_;
  std::function<void(const std::string&)> announce_;
  cuda::Stream stream_;
  Workspace workspace_;
};

template <typename Problem>
std::vector<LadderRow> Runner::run_rungs(Ladder<Problem> ladder, const std::string& wanted,
                                         const Problem& problem, const LadderRow& row, Work work) {
  const bool all = wanted == "all";
  if (!all) ladder = {&find_rung(ladder, wanted), 1};
  std::vector<LadderRow> rows;
  for (const Rung<Problem>& rung : ladder) {
    LadderRow& own = rows.emplace_back(row);
    own.name = rung.name;
    own.file = rung.file;
    own.idea = rung.idea;
    own.tile = rung.tile;
    if (const Support support = rung.supports(problem); !support) {
      if (!all) throw Error("the rung " + own.name + " cannot be used here: " + support.reason);
      own.skipped = support.reason;
      continue;
    }
    work.enqueue = [&] { rung.run(stream_.get(), problem, workspace_); };
    run(own, work);
  }
  return rows;
}

/// Notes how far a row's output of rows x columns is from what is expected.
/// @param bound of the difference of an element; 0: they must be equal.
template <typename Found, typename Expected>
void note_difference(LadderRow& row, const std::vector<Found>& found,
                     const std::vector<Expected>& expected, Index rows, Index columns,
                     double bound) {
  const ValueDifference difference =
      compare_values(std::span<const Found>(found), std::span<const Expected>(expected));
  row.difference = difference.relative;
  row.worst = difference.worst;
  row.bound = bound;
  row.wrong = describe_differences(
      std::span<const Found>(found), std::span<const Expected>(expected), {rows, columns, row.tile},
      [&](double value, double wanted) { return is_near(value, wanted, bound); });
}

/// Uniform in [-1, 1).
template <typename T>
std::vector<T> random_numbers(Index n, Random& random) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random.uniform(-1, 1));
  return values;
}

/// Whole numbers from -99 to 99: in whatever order they are added up, the sum is the same number,
/// as long as it has no more digits than a float, which 2^31 of them will not reach. So one element
/// too many or too few shows, however many there are.
template <typename T>
std::vector<T> random_whole_numbers(Index n, Random& random) {
  constexpr int largest = 99;
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random.below(2 * largest + 1)) - largest;
  return values;
}

/// Room for n elements on the GPU.
template <typename T>
Tensor<T> on_device(Index n, CodeLine asker = CodeLine::here()) {
  return Tensor<T>({n}, cuda::device_memory(), asker);
}

/// Copies all of `from` to the GPU; it is there on return.
template <typename T>
void copy_in(const cuda::Stream& stream, const std::vector<T>& from, Tensor<T>& to) {
  CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T),
                             cudaMemcpyHostToDevice, stream.get()));
  stream.synchronize();
}

/// The first n elements.
template <typename T>
std::vector<T> copy_out(const cuda::Stream& stream, const Tensor<T>& from, Index n) {
  std::vector<T> to(static_cast<std::size_t>(n));
  CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), to.size() * sizeof(T), cudaMemcpyDeviceToHost,
                             stream.get()));
  stream.synchronize();
  return to;
}

/// Enqueues a copy within the GPU's memory.
template <typename T>
void copy_over(const cuda::Stream& stream, Index n, const T* from, T* to) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream.get()));
}

/// Enqueues that all elements become NaN, so that one that is not written shows.
template <typename T>
void poison(const cuda::Stream& stream, Tensor<T>& tensor) {
  CUDA_CHECK(cudaMemsetAsync(
      tensor.data(), 0xff, static_cast<std::size_t>(tensor.elements()) * sizeof(T), stream.get()));
}

}  // namespace stagewise::shared_memory
