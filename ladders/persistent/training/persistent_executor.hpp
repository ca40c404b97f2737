/// @file
/// Stage 04 with a kernel that takes many steps.
#pragma once

#include <memory>

#include "04_minibatch/minibatch_executor.hpp"
#include "ladders/persistent/training/persistent_trainer.hpp"

namespace stagewise {

/// Computes `persistent_step`; everything else is stage 04's.
template <typename T>
class PersistentExecutor final : public MinibatchExecutor<T> {
 public:
  using MinibatchExecutor<T>::run;
  void run(const PersistentStep& op);

  /// Where the kernel tells the host which step is done: in pinned memory.
  void report_steps_to(volatile std::int64_t* progress) { progress_ = progress; }

 private:
  void prepare(const Program& program) override;
  void run(const Line& line) override { run_in_range(*this, line); }

  /// The sizes of the network that a line trains.
  minibatch::persistent::MlpShape shape_of(const PersistentStep& op) const;

  volatile std::int64_t* progress_ = nullptr;
  std::unique_ptr<minibatch::persistent::Trainer<T>> trainer_;
};

extern template class PersistentExecutor<float>;
extern template class PersistentExecutor<double>;

}  // namespace stagewise
