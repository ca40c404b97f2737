/// @file
/// The first version of report 000, kept as an experiment: `--memory per-step`.
#pragma once

#include <vector>

#include "training/step.hpp"

namespace stagewise {

/// A step that owns nothing on the GPU between steps: it allocates every buffer, copies the
/// parameters in, computes, copies them out and frees everything, as a first program would that
/// treats the GPU as a function to call. The numbers are those of EagerStep, bit for bit; the time
/// shows what it buys to allocate once.
template <typename T>
class PerStepMemory final : public Step {
 public:
  /// All arguments must outlive the step.
  /// @param network whose parameters it starts from, and receives at the end of every epoch.
  /// @param model what `network` was built from.
  PerStepMemory(Network<T>& network, const ModelOptions& model, const Dataset& training_set,
                const Sgd& sgd);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override { return totals_; }
  void end_epoch() override;
  std::vector<Timing> timings() const override;

 private:
  /// One step with everything allocated and freed within it.
  /// @return the totals of that step alone.
  Totals run_from_nothing(Index first, Index rows);

  Network<T>* network_;
  const ModelOptions* model_;
  const Dataset* training_set_;
  Sgd sgd_;
  std::span<const std::uint32_t> order_;
  std::vector<ParameterValues> parameters_;  ///< on the host, where they live between steps
  Totals totals_;
  Timing timing_{.operation = "step (allocations included)"};
  std::int64_t step_ = 0;
  Index last_rows_ = 0;
};

}  // namespace stagewise
