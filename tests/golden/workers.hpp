/// @file
/// Workers with weights of their own, as PyTorch trained them: where each of them and their mean
/// arrive, on any stage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "golden/golden.hpp"

namespace stagewise::golden {

/// Of parameters named "1/fc1/weight", "2/fc1/weight", ..., those of one worker, by their own
/// names.
inline std::vector<ParameterValues> of_worker(const std::vector<ParameterValues>& all, int worker) {
  const std::string prefix = std::to_string(worker + 1) + "/";
  std::vector<ParameterValues> result;
  for (const ParameterValues& stored : all) {
    if (!stored.name.starts_with(prefix)) continue;
    result.push_back(stored);
    result.back().name.erase(0, prefix.size());
  }
  return result;
}

/// Makes the step under test for this network, the training of the case, and the workers' starts.
using MakeWorkers = std::function<std::unique_ptr<Step>(Network<double>&, const Case&,
                                                        const WorkerOptions&, const Starts&)>;

/// The trainings there are.
inline const std::vector<std::string> worker_case_names = {"workers_average_weights",
                                                           "workers_average_weights_adam"};

/// The test that every stage with workers has to pass.
inline void expect_workers_equal_pytorch(std::unique_ptr<Executor<double>> executor,
                                         const std::string& name, const MakeWorkers& make_workers) {
  const Case file = load(name);
  constexpr int workers = 3;
  Starts starts;
  for (int worker = 0; worker < workers; ++worker) {
    starts.push_back(of_worker(file.initial, worker));
    ASSERT_EQ(starts.back().size(), 4U);
  }

  Network<double> network(build_model(file.model), std::move(executor));
  network.load(file.options.batch_size);
  const std::unique_ptr<Step> step = make_workers(
      network, file,
      {.workers = workers, .average = Average::weights, .average_every = file.average_every},
      starts);
  EXPECT_LE(distance(train_with(network, *step, file), file), bound);

  const auto ends = step->worker_parameters();
  ASSERT_EQ(ends.size(), starts.size());
  for (int worker = 0; worker < workers; ++worker) {
    const auto expected = of_worker(file.worker_ends, worker);
    ASSERT_EQ(expected.size(), 4U);
    const auto& own = ends[static_cast<std::size_t>(worker)];
    EXPECT_LE(largest_difference(compare_parameters(own, expected)), bound) << "worker " << worker;
    // The training ends between two means, so that the workers are not all alike.
    EXPECT_GT(largest_difference(compare_parameters(own, file.expected)), 1e-4);
  }
}

}  // namespace stagewise::golden
