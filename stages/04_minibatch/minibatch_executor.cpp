#include "04_minibatch/minibatch_executor.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "04_minibatch/data/gather.hpp"
#include "cuda/memory.hpp"

namespace stagewise {

// ------------------------------------------------------------------------------------------ lanes

template <typename T>
const cuda::Stream& MinibatchExecutor<T>::stream_of(int lane) const {
  return lane == 0 ? this->main_stream() : lane_at(lane).stream;
}

template <typename T>
shared_memory::Workspace& MinibatchExecutor<T>::workspace() {
  return lane_ == 0 ? FusedExecutor<T>::workspace() : *lane_at(lane_).workspace;
}

//! [execute]
template <typename T>
void MinibatchExecutor<T>::execute(const Program& program, const Batch& batch) {
  if (this->measures()) return FusedExecutor<T>::execute(program, batch);
  this->begin(batch);
  program_ = &program;
  int last = 0;
  for (const Line& line : program.lines) last = std::max(last, line.lane);
  if (last > 0) begun_.record(this->main_stream());
  for (int lane = 1; lane <= last; ++lane) begun_.make_wait(stream_of(lane));
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& line = program.lines[i];
    select_lane(line.lane);
    line_number_ = i;
    for (const std::size_t before : line.waits_for) {
      settle(before);
      events_[before].make_wait(lane_stream());
    }
    run(line);
    if (line.is_awaited) mark_end(i);
  }
  for (std::size_t i = 0; i < program.lines.size(); ++i) settle(i);
  select_lane(0);
  for (int lane = 1; lane <= last; ++lane) {
    lane_at(lane).end.record(stream_of(lane));
    lane_at(lane).end.make_wait(this->main_stream());
  }
}
//! [execute]

template <typename T>
void MinibatchExecutor<T>::prepare(const Program& program) {
  for (const Line& line : program.lines) {
    while (lanes_.size() < static_cast<std::size_t>(line.lane)) {
      lanes_.push_back(std::make_unique<Lane>());
    }
    const bool needs_none = is_exchange(line.operation) || is_a<AddPartials>(line.operation);
    if (line.lane == 0 || needs_none) continue;
    auto& workspace = lane_at(line.lane).workspace;
    if (workspace == nullptr) workspace = std::make_unique<shared_memory::Workspace>();
  }
  while (events_.size() < program.lines.size()) events_.emplace_back();
  FusedExecutor<T>::prepare(program);
}

// ---------------------------------------------------------------------------------------- batches

template <typename T>
void MinibatchExecutor<T>::read_from(const Dataset& dataset, std::span<const std::uint32_t> order) {
  FusedExecutor<T>::read_from(dataset, order);
  for (const ValueId id : batch_values_) this->bind(id, nullptr);
  batch_values_.clear();
  host_data_.reset();  // before there is another
  host_data_ = std::make_unique<minibatch::HostData<T>>(dataset, order, this->max_rows(),
                                                        this->main_stream());
  samples_ = Tensor<std::uint32_t>({std::ssize(order)}, cuda::pinned_memory());
  std::iota(samples_.data(), samples_.data() + samples_.elements(), 0U);
  batches_ = 0;
  is_resident_ = false;
}

template <typename T>
void MinibatchExecutor<T>::run(const Gather& op) {
  const Shard own = this->shard(op.batch);
  if (!is_resident_) {
    if (lane() != 0) throw std::logic_error("only lane 0 waits for batches from the host");
    const auto batch =
        host_data_->bring(batches_++, samples_.data() + this->batch().first + own.first, own.rows);
    this->bind(op.batch, batch.features);
    this->bind(op.batch_labels, batch.labels);
    batch_values_ = {op.batch, op.batch_labels};
    return;
  }
  if (own.rows == 0) return;
  minibatch::gather(this->stream(), this->at(op.features), this->at(op.labels),
                    this->value(op.features).shape.elements(), this->at(op.order), own.rows,
                    this->at(op.batch), this->at(op.batch_labels));
}

template class MinibatchExecutor<float>;
template class MinibatchExecutor<double>;

}  // namespace stagewise
