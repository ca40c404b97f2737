/// @file
/// One minibatch of training: the part that stages do differently.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

  /// Where totals() has found the first bad step, to be added to a sentence: " on rank 2". Empty
  /// where there is but one place.
  virtual std::string place_of_bad_step() const { return ""; }

  /// Of the samples for which run() was called in this epoch, how many are trained on by now, as
  /// far as can be told without waiting.
  /// @param asked the number for which it was called.
  virtual Index samples_done(Index asked) const { return asked; }

  /// Whether all work that was asked for is done, as far as can be told without waiting.
  virtual bool is_done() { return true; }

  /// Ends an epoch: from here on, the network's parameters are those to report and to save, and its
  /// input is the epoch's last batch.
  virtual void end_epoch() {}

  /// Each worker's parameters, where workers have their own; else empty.
  virtual std::vector<std::vector<ParameterValues>> worker_parameters() const { return {}; }

  /// What the user should know about how the step works here, a sentence each; mostly nothing.
  virtual std::vector<std::string> notes() const { return {}; }

  /// What gathering, averaging and updating have cost, besides the graph's own rows; empty unless
  /// the graph measures. Rows of the same operation are to be added up.
  virtual std::vector<Timing> timings() const { return {}; }
};

/// Brings batches of a data set from the host's memory to a network.
template <typename T>
class Feeder {
 public:
  Feeder() = default;
  virtual ~Feeder() = default;
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Fills the network's input and labels with the named samples and sets the batch size. May
  /// return before they are there: what the backend is asked for next comes after.
  virtual void feed(std::span<const std::uint32_t> samples) = 0;
};

/// Gathers a batch on the host, copies it in and waits until it is there; gathers it in place where
/// the host can write to the device's memory.
template <typename T>
class PlainFeeder final : public Feeder<T> {
 public:
  /// Both must outlive the feeder.
  PlainFeeder(Network<T>& network, const Dataset& dataset);

  void feed(std::span<const std::uint32_t> samples) override;

 private:
  Network<T>* network_;
  const Dataset* dataset_;
  Tensor<T> features_;  ///< empty where the host can write to the device's memory
  Labels labels_;
};

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
  Sgd sgd_;
  PlainFeeder<T> feeder_;
  std::span<const std::uint32_t> order_;
  std::int64_t step_ = 0;  ///< within the epoch, counted from 1
  Tensor<Totals> totals_;
  Timing gather_{.operation = "batch (gather, copy in)"};
  Timing update_{.operation = "parameters (update)"};
};

/// Does `work` and, where the graph measures, adds what it took to `timing`.
template <typename T, typename Work>
void run_timed(Graph<T>& graph, Timing& timing, const Work& work) {
  if (graph.timings().empty()) return work();
  timing.forward_seconds += graph.backend().measure(std::cref(work));
  ++timing.calls;
}

}  // namespace stagewise
