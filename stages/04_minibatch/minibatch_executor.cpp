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
Workspace& MinibatchExecutor<T>::workspace() {
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
    if (workspace == nullptr) workspace = std::make_unique<Workspace>();
  }
  while (events_.size() < program.lines.size()) events_.emplace_back();
  FusedExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    if (const auto* const update = std::get_if<UpdateBySum>(&line.operation)) {
      add_table(update->parameters, update->l2, update->gradients);
    } else if (const auto* const average = std::get_if<AverageWeights>(&line.operation)) {
      add_table(average->means, 0, average->workers);
    }
  }
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

// ---------------------------------------------------------------------------------------- workers

template <typename T>
template <typename Parameters, typename Operands>
void MinibatchExecutor<T>::add_table(const Parameters& parameters, double l2,
                                     const Operands& workers) {
  std::vector<minibatch::MeanParameter<T>> means;
  Index blocks = 0;
  for (const ValueId id : parameters) {
    const Value& value = this->value(id);
    const Index elements = value.shape.elements();
    means.push_back({.value = this->template data<T>(id),
                     .elements = elements,
                     .first_block = blocks,
                     .l2 = value.role == Role::weight ? static_cast<T>(l2) : T{0}});
    blocks += minibatch::blocks_for(elements);
  }
  std::vector<T*> parts;
  for (const ValueId id : workers) parts.push_back(this->template data<T>(id));

  Table& table = tables_[parameters.front()];
  table.means = this->copied(means);
  table.parts = this->copied(parts);
  table.parameters = {.workers = static_cast<int>(parts.size() / means.size()),
                      .parameters = static_cast<int>(means.size()),
                      .blocks = blocks,
                      .mean = table.means.data(),
                      .parts = table.parts.data()};
}

template <typename T>
void MinibatchExecutor<T>::run(const UpdateBySum& op) {
  if (this->batch().rows == 0) return;
  minibatch::update_by_sum(this->stream(), tables_.at(op.parameters.front()).parameters,
                           static_cast<T>(op.learning_rate));
}

template <typename T>
void MinibatchExecutor<T>::run(const AverageWeights& op) {
  minibatch::average_weights(this->stream(), tables_.at(op.means.front()).parameters,
                             op.is_taken_over);
}

template class MinibatchExecutor<float>;
template class MinibatchExecutor<double>;

}  // namespace stagewise
