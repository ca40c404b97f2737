#include "05_mpi/distributed_executor.hpp"

#include <algorithm>

#include "02_naive_cuda/kernels.hpp"
#include "cuda/check.hpp"

namespace stagewise {

//! [run]
template <typename T>
void DistributedExecutor<T>::run(const AllReduce& op) {
  mpi::Transport<T>& transport = *transports_.at(op.among);
  bucket_.clear();
  for (const Updates<Real>& value : op.values) {
    bucket_.push_back({this->at(value), this->elements(value)});
  }
  transport.begin(bucket_, this->lane_stream());
  if (this->lane() == 0 || op.divides) {  // what comes next in the stream needs the sums
    transport.finish();
  } else if (!transport.can_be_recorded()) {
    begun_.push_back(this->line_number());
  }
  if (!op.divides) return;
  for (const mpi::Piece<T>& piece : bucket_) {
    naive_cuda::divide(this->stream(), piece.count, static_cast<T>(mesh_.of(op.among).size()),
                       piece.values);
  }
}
//! [run]

template <typename T>
void DistributedExecutor<T>::run(const AllReduceUpdate& op) {
  bucket_.clear();
  for (std::size_t k = 0; k < op.gradients.size(); ++k) {
    const bool is_weight = this->value(op.parameters[k]).role == Role::weight;
    bucket_.push_back({.values = this->template data<T>(op.gradients[k]),
                       .count = this->elements(op.gradients[k]),
                       .update = {.parameters = this->at(op.parameters[k]),
                                  .learning_rate = static_cast<T>(op.learning_rate),
                                  .l2 = is_weight ? static_cast<T>(op.l2) : T{0}}});
  }
  transports_.at(Group::data)->begin(bucket_, this->lane_stream());
}

/// The begun lines have marked their ends too early, before their sums have arrived.
template <typename T>
void DistributedExecutor<T>::settle(std::size_t line) {
  if (std::find(begun_.begin(), begun_.end(), line) == begun_.end()) return;
  for (const auto& [group, transport] : transports_) transport->finish();
  for (const std::size_t done : begun_) this->mark_end(done);
  begun_.clear();
}

template <typename T>
void DistributedExecutor<T>::execute(const Program& program, const Batch& batch) {
  begun_.clear();
  MinibatchExecutor<T>::execute(program, batch);
}

template <typename T>
void DistributedExecutor<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  MinibatchExecutor<T>::copy_out(host, from, bytes);
  check();
}

template <typename T>
void DistributedExecutor<T>::prepare(const Program& program) {
  begun_.reserve(program.lines.size());
  // First: some lines keep the addresses of their values.
  for (const Group group : {Group::data, Group::tensor}) prepare_sums(program, group);
  MinibatchExecutor<T>::prepare(program);
}

template <typename T>
void DistributedExecutor<T>::prepare_sums(const Program& program, Group among) {
  Index count = 0;
  std::vector<ValueId> values;
  std::vector<ValueId> parameters;
  const auto add = [&](const auto& operands) {
    for (const ValueId value : operands) {
      count += this->elements(value);
      values.push_back(value);
    }
  };
  for (const Line& line : program.lines) {
    if (const auto* const sum = std::get_if<AllReduce>(&line.operation)) {
      if (sum->among == among) add(sum->values);
    } else if (const auto* const both = std::get_if<AllReduceUpdate>(&line.operation)) {
      if (among != Group::data) continue;
      add(both->gradients);
      for (const ValueId id : both->parameters) parameters.push_back(program.memory_of(id));
    }
  }
  if (values.empty()) return;
  std::unique_ptr<mpi::Transport<T>>& transport = transports_[among];
  if (transport == nullptr) transport = mpi::make_transport<T>(name_, mesh_.of(among), patience_);
  transport->reserve(count);
  move_to(values, *transport);
  move_to(parameters, *transport);
  bucket_.reserve(values.size());
}

/// Lets values that are added up, and parameters that are updated by the sums, stay where their
/// transport wants them.
template <typename T>
void DistributedExecutor<T>::move_to(const std::vector<ValueId>& values,
                                     mpi::Transport<T>& transport) {
  std::vector<ValueId> fresh;
  std::vector<Index> counts;
  for (const ValueId id : values) {
    if (!placed_.insert(id.index).second) continue;
    fresh.push_back(id);
    counts.push_back(this->elements(id));
  }
  if (fresh.empty()) return;
  const std::vector<T*> memory = transport.memory_for(counts);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (is_parameter(this->value(fresh[i]).role)) {  // which already have values
      CUDA_CHECK(cudaMemcpyAsync(memory[i], this->template data<T>(fresh[i]),
                                 static_cast<std::size_t>(counts[i]) * sizeof(T),
                                 cudaMemcpyDeviceToDevice, this->main_stream().get()));
    }
    this->bind(fresh[i], memory[i]);
  }
}

template class DistributedExecutor<float>;
template class DistributedExecutor<double>;

}  // namespace stagewise
