/// @file
/// What executes programs. A stage is first of all an executor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "data/dataset.hpp"
#include "network/program.hpp"
#include "network/shard.hpp"
#include "tensor/tensor.hpp"
#include "training/run_operation.hpp"

namespace stagewise {

/// Owns the memory of a program's values, allocated once, for the largest batch, and executes one
/// line after another.
///
/// A stage derives from it and has a function `run` for every operation that it computes in its own
/// way. Work may be asynchronous: it takes effect in the order of the calls, and the host waits
/// only in copy_out() and synchronize(). Only load() allocates.
/// @tparam T float or double.
template <typename T>
class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// @name Memory
  /// @{

  /// The memory of all values.
  virtual Memory& memory() = 0;

  /// Host memory for transfers to and from memory().
  virtual Memory& staging_memory() { return host_memory(); }

  /// Whether the host can access memory() through pointers, so that no copy is needed to read.
  virtual bool host_accessible() const = 0;

  /// Copies `bytes` bytes from host memory; `host` may be reused on return.
  virtual void copy_in(void* to, const void* host, std::size_t bytes) = 0;

  /// Copies `bytes` bytes to host memory; they have arrived on return.
  virtual void copy_out(void* host, const void* from, std::size_t bytes) = 0;

  /// Waits until all requested work is done.
  virtual void synchronize() = 0;

  /// Whether this stage computes an activation and its derivative.
  virtual bool computes(Activation activation) const = 0;

  /// Seconds that `work` takes on its own: waits for all earlier work first, then for `work`.
  virtual double measure(const std::function<void()>& work);

  /// What all kernels have done so far; nothing where that is not counted.
  virtual KernelCounters counters() const { return {}; }

  /// @}

  /// Allocates the values that the program's lines use, unless they already have memory.
  /// @param max_rows of the largest batch; the same in every call.
  /// @param on_size is called first, with the number of bytes that this takes at least.
  /// @throws Error before anything is allocated if there is not enough memory, or a line that the
  ///         stage does not compute.
  void load(const Program& program, Index max_rows, const std::function<void(double)>& on_size = {});

  /// @throws Error like load() if there is not enough memory; allocates nothing.
  void expect_room(const Program& program, Index max_rows);

  /// What load() would allocate, in bytes.
  double missing_bytes(const Program& program, Index max_rows) const;

  Index max_rows() const { return max_rows_; }

  /// Places a value of a loaded program in memory that the executor does not own. Null: back in its
  /// own memory.
  void bind(ValueId value, void* memory);

  /// Sets the samples that Gather gathers from now on. Both arguments must remain unchanged
  /// meanwhile.
  virtual void read_from(const Dataset& dataset, std::span<const std::uint32_t> order);

  /// Executes a loaded program.
  virtual void execute(const Program& program, const Batch& batch);

  /// Where a value is, for the batch of the last execute().
  template <typename Element = T>
  Element* data(ValueId value) {
    return static_cast<Element*>(address_of(value));
  }

  /// Measures every line from now on, and waits for the device before and after each: the sum of
  /// the lines is therefore longer than an unmeasured run.
  void enable_timings(bool measures = true) { measures_ = measures; }
  bool measures() const { return measures_; }

  /// A row for each line executed since then, in the order of first execution.
  const std::vector<Timing>& timings() const { return timings_; }

  /// Does `work` and, while lines are measured, counts it as a line.
  void run_timed(const std::string& operation, const std::function<void()>& work);

  /// @name Operations that are the same in all stages
  /// @{
  void run(const Replicate& /*op*/) {}

  /// @throws std::logic_error if there are no other processes.
  void run(const AllReduce& op);
  /// @}

 protected:
  template <typename Kind>
  using Element = std::conditional_t<std::is_same_v<Kind, Real>, T, Kind>;

  /// Executes a line; see run_operation().
  virtual void run(const Line& line) = 0;

  /// Called by load() with what is loaded: allocates what the stage's operations need besides their
  /// operands.
  virtual void prepare(const Program& /*program*/) {}

  /// An operand that is read, in memory; null for none.
  template <typename Kind>
  const Element<Kind>* at(const Reads<Kind>& operand) {
    return static_cast<const Element<Kind>*>(address_of(operand));
  }

  /// The same for one that is written, or read and written.
  template <typename Kind, Use how>
  Element<Kind>* at(const OperandOf<Kind, how>& operand) {
    return static_cast<Element<Kind>*>(address_of(operand));
  }

  /// The loaded value with this id.
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }

  /// The samples of the current batch that a value belongs to.
  Shard shard(ValueId id) const {
    const Part& part = value(id).part;
    return shard_of(batch_.rows, part.count, part.index);
  }

  /// The number of rows in the mean loss of which this value is the gradient.
  Index batch_rows(ValueId id) const { return value(id).part.is_alone ? shard(id).rows : batch_.rows; }

  /// The number of elements of a value in the current batch.
  Index elements(ValueId id) const { return elements_of(value(id), batch_.rows); }

  /// The number of elements of a sample, or of a row of a parameter.
  Index columns(ValueId id) const;

  /// The number of samples of a value in the current batch, or of rows of a parameter.
  Index rows(ValueId id) const { return columns(id) == 0 ? 0 : elements(id) / columns(id); }

  //! [arguments]
  /// What every stage's function for an operation takes: sizes and attributes, then the addresses
  /// of the operands, in the operation's order.
  template <typename Op>
  auto arguments(const Op& op) {
    const auto addresses = [&](const auto&... operands) { return std::tuple(at(operands)...); };
    return std::tuple_cat(sizes(op), std::apply(addresses, Op::operands(op)));
  }
  //! [arguments]

  /// A product of the current batch.
  GemmProblem<T> problem(const Gemm& op);

  /// The sizes of a convolution of the current batch.
  ConvolutionProblem problem(ValueId input, ValueId filter) const;

  /// The sizes of a pooling of the current batch.
  PoolingProblem pooling(ValueId input, Index window) const;

  const Batch& batch() const { return batch_; }
  const Dataset* dataset() const { return dataset_; }

  /// The samples of a value's part of the current batch.
  std::span<const std::uint32_t> samples(ValueId id) const;

  /// Executes lines for this batch from now on.
  /// @throws Error if it is larger than what was loaded.
  void begin(const Batch& batch);

 private:
  void* address_of(ValueId id);

  /// @throws UsageError if it is an activation that the stage does not compute.
  void expect_computed(const Operation& operation) const;

  /// The values in whose memory the program's values are, unless these already have memory.
  std::vector<ValueId> missing(const Program& program) const;

  /// The number of a line's row in timings_, which is added if there is none yet.
  std::size_t row_of(const std::string& operation);
  void measure_into(std::size_t row, const std::function<void()>& work);

  /// Rows and columns of a value whose rows are as long as a row of `row`.
  std::tuple<Index, Index> matrix(ValueId value, ValueId row) const {
    return {elements(value) / columns(row), columns(row)};
  }

  /// Those of outputs and, of a gradient, the rows of the batch.
  std::tuple<Index, Index> outputs(ValueId id) const { return {rows(id), columns(id)}; }
  std::tuple<Index, Index, Index> gradient(ValueId id) const { return {rows(id), columns(id), batch_rows(id)}; }

  /// @name Sizes and attributes, for arguments()
  /// @{
  auto sizes(const AddBias& op) const { return matrix(op.x, op.bias); }
  auto sizes(const ColumnSums& op) const { return matrix(op.x, op.y); }
  template <Activation activation>
  auto sizes(const Activate<activation>& op) const {
    return std::tuple(activation, elements(op.x));
  }
  template <Activation activation>
  auto sizes(const ActivateBackward<activation>& op) const {
    return std::tuple(activation, elements(op.y));
  }
  auto sizes(const SoftmaxCrossEntropy& op) const { return outputs(op.logits); }
  auto sizes(const SoftmaxCrossEntropyBackward& op) const { return gradient(op.dlogits); }
  auto sizes(const SquaredError& op) const { return outputs(op.outputs); }
  auto sizes(const SquaredErrorBackward& op) const { return gradient(op.doutputs); }
  auto sizes(const ArgMax& op) const { return outputs(op.outputs); }
  auto sizes(const Threshold& op) const { return std::tuple(rows(op.outputs), static_cast<T>(op.threshold)); }
  auto sizes(const Accumulate& op) const { return std::tuple(elements(op.row_losses), batch_.step); }
  auto sizes(const Convolution& op) const { return std::tuple(problem(op.input, op.filter)); }
  auto sizes(const ConvolutionBackward& op) const { return std::tuple(problem(op.input, op.filter)); }
  auto sizes(const AveragePool& op) const { return std::tuple(pooling(op.input, op.window)); }
  auto sizes(const AveragePoolBackward& op) const { return std::tuple(pooling(op.dinput, op.window)); }
  auto sizes(const SgdUpdate& op) const {
    return std::tuple(elements(op.parameter), static_cast<T>(op.learning_rate), static_cast<T>(op.l2));
  }
  auto sizes(const MomentumUpdate& op) const {
    return std::tuple(elements(op.parameter), static_cast<T>(op.momentum), static_cast<T>(op.l2));
  }
  auto sizes(const AdamUpdate& op) const {
    return std::tuple(elements(op.parameter), AdamNumbers<T>{.new_in_first = static_cast<T>(1 - op.beta1),
                                                             .beta2 = static_cast<T>(op.beta2),
                                                             .new_in_second = static_cast<T>(1 - op.beta2),
                                                             .epsilon = static_cast<T>(op.epsilon),
                                                             .l2 = static_cast<T>(op.l2)});
  }
  /// @}

  std::vector<Value> values_;
  std::vector<Tensor<std::byte>> owned_;  ///< one per value; empty if the value is elsewhere
  std::vector<void*> bound_;
  std::vector<ValueId> roots_;  ///< those in whose memory the values are
  Index max_rows_ = 0;
  Batch batch_;
  const Dataset* dataset_ = nullptr;
  std::span<const std::uint32_t> order_;
  bool measures_ = false;
  std::vector<Timing> timings_;
  std::map<const Line*, std::size_t> rows_of_lines_;  ///< in timings_
};

}  // namespace stagewise
