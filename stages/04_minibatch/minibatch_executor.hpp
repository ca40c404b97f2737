/// @file
/// Stage 04: fused lines, on lanes that run concurrently.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "04_minibatch/data/host_data.hpp"
#include "04_minibatch/fused_executor.hpp"
#include "04_minibatch/update.hpp"

namespace stagewise {

/// Executes each lane in its own stream. Batches are streamed from the host, or gathered from a
/// data set on the device that is bound to the program's.
template <typename T>
class MinibatchExecutor : public FusedExecutor<T> {
 public:
  using FusedExecutor<T>::run;
  void run(const Gather& op);
  void run(const UpdateBySum& op);
  void run(const AverageWeights& op);

  void read_from(const Dataset& dataset, std::span<const std::uint32_t> order) override;
  void execute(const Program& program, const Batch& batch) override;

  /// From now on, until read_from(), Gather reads the data set that is bound to the program's.
  void read_from_device() { is_resident_ = true; }

  /// Whether a program can be recorded.
  virtual bool can_be_recorded() const { return true; }

  /// @throws Error if the work can no longer be finished. Does not wait.
  virtual void check() {}

  /// Whether check() has thrown; then the host must not wait for the device.
  virtual bool has_failed() const { return false; }

 protected:
  void prepare(const Program& program) override;
  void prepare_gather(const Gather& /*op*/) override {}  // nothing before read_from()
  void run(const Line& line) override { run_in_range(*this, line); }
  cudaStream_t stream() const override { return lane_stream().get(); }
  void select_lane(int lane) override { lane_ = lane; }

  /// Each lane has its own, since kernels of two lanes may run at the same time.
  Workspace& workspace() override;

  /// Called before something waits for a line: all of its work must be enqueued by then.
  virtual void settle(std::size_t /*line*/) {}

  const cuda::Stream& lane_stream() const { return stream_of(lane_); }
  int lane() const { return lane_; }
  std::size_t line_number() const { return line_number_; }

  /// Records the event for which others wait, in the stream of this line.
  void mark_end(std::size_t line) { events_[line].record(stream_of(program_->lines[line].lane)); }

 private:
  struct Lane {
    cuda::Stream stream;
    cuda::Event end;
    std::unique_ptr<Workspace> workspace;  ///< if its lines need it
  };

  /// The lists in which update.hpp's kernels find the parameters, or gradients, of all workers.
  struct Table {
    Tensor<minibatch::MeanParameter<T>> means;
    Tensor<T*> parts;
    minibatch::WorkersParameters<T> parameters;
  };

  /// Collects what the workers' kernels need for the line that writes `parameters`.
  template <typename Parameters, typename Operands>
  void add_table(const Parameters& parameters, double l2, const Operands& workers);

  Lane& lane_at(int lane) const { return *lanes_[static_cast<std::size_t>(lane) - 1]; }
  const cuda::Stream& stream_of(int lane) const;

  std::vector<std::unique_ptr<Lane>> lanes_;  ///< except lane 0, which is stage 03's
  std::vector<cuda::Event> events_;           ///< for lines that others wait for, by number
  cuda::Event begun_;
  int lane_ = 0;
  std::size_t line_number_ = 0;
  const Program* program_ = nullptr;                   ///< the one being executed
  std::unique_ptr<minibatch::HostData<T>> host_data_;  ///< what Gather reads
  std::map<ValueId, Table> tables_;                    ///< by the first parameter of a line
  Tensor<std::uint32_t> samples_;                      ///< 0, 1, ..., in pinned memory
  std::vector<ValueId> batch_values_;                  ///< bound to host_data_'s batches
  Index batches_ = 0;                                  ///< that it has brought
  bool is_resident_ = false;  ///< whether Gather finds the data set on the device
};

extern template class MinibatchExecutor<float>;
extern template class MinibatchExecutor<double>;

}  // namespace stagewise
