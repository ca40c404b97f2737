/// @file
/// The workers that share every batch, all on one GPU.
#pragma once

#include <memory>
#include <vector>

#include "04_minibatch/gradient_exchange.hpp"
#include "04_minibatch/minibatch_backend.hpp"
#include "04_minibatch/update.hpp"
#include "network/workers.hpp"

namespace stagewise {

/// A batch in the device's memory: one sample behind the other, or those that the selection names.
template <typename T>
struct DeviceBatch {
  T* features = nullptr;
  const std::int32_t* labels = nullptr;
  Selection selection = {};  ///< of both
  Index rows = 0;
};

/// The workers of WorkerStep, side by side. Each has a network, a backend and so a stream of its
/// own, and takes its shard of every batch. The streams part at the beginning of a step and meet at
/// its end, where what the workers have is averaged in their order: the same bits in every run,
/// whoever comes first. A single worker updates its parameters where their gradients are computed.
template <typename T>
class Workers {
 public:
  /// @param network built for training on `backend`. Receives updates and means; worker 0's own,
  ///        unless weights are averaged. Both must outlive this.
  /// @param fuses whether the further workers' backends fuse.
  /// @param exchange what follows the backward pass of a single worker, instead of updates within
  ///        it; null: these. Must outlive this.
  /// @throws Error if the GPU has too little memory.
  Workers(Network<T>& network, MinibatchBackend<T>& backend, const ModelOptions& model,
          const Sgd& sgd, const WorkerOptions& options,
          const std::vector<std::vector<ParameterValues>>& starts, bool fuses,
          GradientExchange<T>* exchange = nullptr);

  /// Enqueues a step.
  /// @param steps_before in the device's memory: how many steps of the epoch come before `step`.
  /// @param step number of the step behind those, counted from 1.
  void enqueue_step(const DeviceBatch<T>& batch, const std::int64_t* steps_before,
                    std::int64_t step);

  /// Enqueues: the main network's parameters become the mean of the workers'.
  /// @param workers_too whether theirs do, too.
  void average_weights(bool workers_too);

  /// Sets what all workers have added up to 0.
  void reset_totals();

  /// What all workers have added up. Waits.
  Totals totals();

  /// Each worker's parameters, where they have their own; else empty.
  std::vector<std::vector<ParameterValues>> parameters() const;

  /// Whether the layers that read the input can pick its rows from a data set.
  bool selects_rows() const;

  /// What the layers of the workers' own networks have cost, each for itself, the losses, and the
  /// means.
  std::vector<Timing> timings() const;

 private:
  struct Worker {
    std::unique_ptr<MinibatchBackend<T>> own_backend;  ///< null: the main one
    std::unique_ptr<Network<T>> own_network;           ///< null: the main one
    MinibatchBackend<T>* backend = nullptr;
    Network<T>* network = nullptr;
    Tensor<Totals> totals;
    cuda::Event done;
  };

  void list_parameters();
  void exchange_gradients(Graph<T>& graph);
  void enqueue_shard(Worker& worker, const DeviceBatch<T>& batch, const Shard& shard,
                     const std::int64_t* steps_before, std::int64_t step);

  Network<T>* network_;
  MinibatchBackend<T>* backend_;
  Sgd sgd_;
  WorkerOptions options_;
  GradientExchange<T>* exchange_;
  std::vector<Worker> workers_;
  cuda::Event begun_;
  Tensor<minibatch::MeanParameter<T>> mean_;
  Tensor<minibatch::WorkersPart<T>> parts_;
  minibatch::WorkersParameters<T> lists_;
  Timing output_layer_{.operation = "last layer, loss, both ways"};
  Timing loss_{.operation = "loss (with gradient, totals)"};
  Timing average_{.operation = "workers (average, update)"};
};

extern template class Workers<float>;
extern template class Workers<double>;

}  // namespace stagewise
