/// @file
/// The first version of report 000, kept as an experiment with stage 02.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "training/step.hpp"

namespace stagewise {

/// A step that owns no GPU memory between steps: it allocates every value, copies the parameters
/// in, computes, copies them out and frees everything, as a first program might that treats the GPU
/// like a function to call. The results are those of ProgramStep, bit for bit; the time shows what
/// is gained by allocating only once.
template <typename T>
class PerStepMemory final : public Step {
 public:
  using MakeExecutor = std::function<std::unique_ptr<Executor<T>>()>;

  /// @param network receives the parameters at the end of every epoch. The network, the training
  ///        set and whatever `make_executor` refers to must outlive the step.
  PerStepMemory(Network<T>& network, const Dataset& training_set, const Sgd& sgd, std::vector<ParameterValues> start,
                MakeExecutor make_executor, Index max_rows);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override { return totals_; }
  void end_epoch() override;
  Samples last_batch() const override;

 private:
  /// One step with everything allocated and freed within it.
  /// @return the totals of that step alone.
  Totals run_from_nothing(Index first, Index rows);

  Network<T>* network_;
  const Dataset* training_set_;
  Sgd sgd_;
  std::vector<ParameterValues> parameters_;  ///< on the host, where they live between steps
  MakeExecutor make_executor_;
  std::span<const std::uint32_t> order_;
  Totals totals_;
  Batch batch_;  ///< the last one
};

}  // namespace stagewise
