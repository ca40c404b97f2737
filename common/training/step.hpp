/// @file
/// One minibatch of training: the part that stages do differently.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "graph/graph.hpp"
#include "io/checkpoint.hpp"
#include "models/model.hpp"
#include "training/sgd.hpp"

namespace stagewise {

/// Trains on one minibatch after another and adds up what the epoch reports.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Starts an epoch: totals at zero, samples in the given order.
  /// @param order indices into the training set; must stay as it is until the epoch's end.
  virtual void begin_epoch(std::span<const std::uint32_t> order) = 0;

  /// Trains on the samples `order[first]`, ..., `order[first + rows - 1]`. May return before the
  /// device is done.
  virtual void run(Index first, Index rows) = 0;

  /// The epoch's totals so far. Waits for the device.
  virtual Totals totals() = 0;

  /// Ends an epoch: from here on, the network's parameters are those to report and to save.
  virtual void end_epoch() {}

  /// Each worker's parameters, where workers have their own; else empty.
  virtual std::vector<std::vector<ParameterValues>> worker_parameters() const { return {}; }

  /// What gathering, averaging and updating have cost, besides the graph's own rows; empty unless
  /// the graph measures.
  virtual std::vector<Timing> timings() const { return {}; }
};

/// Where a batch is put together on the host before it is copied to the device; empty where the
/// host can write to the device's memory at once.
template <typename T>
struct Staging {
  Tensor<T> features;
  Labels labels;
};

/// Room for the largest batch of the network, in its backend's staging memory.
template <typename T>
Staging<T> make_staging(Network<T>& network);

/// Fills the network's input and labels with the named samples and sets the batch size.
template <typename T>
void load_batch(Network<T>& network, const Dataset& dataset, std::span<const std::uint32_t> samples,
                Staging<T>& staging);

/// The step of stages 01 to 03: gather on the host, copy in, forward, backward, update.
template <typename T>
class EagerStep final : public Step {
 public:
  /// All arguments must outlive the step.
  EagerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override;
  std::vector<Timing> timings() const override;

 private:
  Network<T>* network_;
  const Dataset* training_set_;
  Sgd sgd_;
  std::span<const std::uint32_t> order_;
  std::int64_t step_ = 0;  ///< within the epoch, counted from 1
  Tensor<Totals> totals_;
  Staging<T> staging_;
  Timing gather_{.operation = "batch (gather, copy in)"};
  Timing update_{.operation = "parameters (update)"};
};

/// Does `work` and, where the graph measures, adds what it took to `timing`.
template <typename T, typename Work>
void run_timed(Graph<T>& graph, Timing& timing, const Work& work) {
  if (graph.timings().empty()) return work();
  graph.backend().synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  graph.backend().synchronize();
  timing.forward_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++timing.calls;
}

}  // namespace stagewise
