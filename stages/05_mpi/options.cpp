#include "05_mpi/options.hpp"

#include <algorithm>
#include <initializer_list>

#include "04_minibatch/step_options.hpp"
#include "05_mpi/strategy.hpp"
#include "05_mpi/transport.hpp"
#include "tensor/option_error.hpp"

namespace stagewise::mpi {

void check_options(const World& world, const Placement& placement, const StageOptions& values,
                   const ModelOptions& model, const WorkerOptions& workers) {
  check_transport(values.at("transport"), placement);
  if (!is_split(values)) return;
  const int tensor_ranks = tensor_ranks_of(values, world.size());
  if (world.size() % tensor_ranks != 0) {
    throw OptionError("--tensor-ranks " + std::to_string(tensor_ranks) +
                          " does not divide the number of processes, " +
                          std::to_string(world.size()),
                      {"tensor-ranks"});
  }
  check_splittable(model, tensor_ranks, values.at("strategy"));
  if (workers.workers > 1 || workers.average == Average::weights) {  // from a checkpoint
    throw OptionError(
        "--strategy " + values.at("strategy") +
            " has no workers whose results could be averaged: several ranks work on the same "
            "samples; --strategy data has",
        {"strategy"});
  }
}

std::string why_idle(const World& world, const std::string& option, const StageOptions& values,
                     const ModelOptions& model, const WorkerOptions& workers, const Sgd& sgd) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), option) != names.end();
  };
  if (option == "tensor-ranks" && !has_strategy(values, "hybrid")) {
    return "is for --strategy hybrid: otherwise, each process has a whole network, or all have one "
           "together";
  }
  const bool is_alone = world.size() == 1 && workers.workers == 1;  // info shows one of two
  if (is_alone && is_one_of({"transport", "timeout", "overlap", "data-from"})) {
    return "is for several processes, and there is but one: start them with mpirun -n";
  }
  if (is_split(values) && is_one_of({"average", "average-every", "gather"})) {
    return "is for --strategy data: with " + values.at("strategy") +
           ", several ranks work on the same samples, in step with each other";
  }
  if (has_strategy(values, "tensor") && option == "overlap") {
    return "is for --strategy data or hybrid: with tensor, there are no gradients to exchange";
  }
  if (option == "overlap" && workers.average == Average::weights) {
    return "is for --average gradients: weights are exchanged when a step is done";
  }
  return why_idle_in_step(option, values, model, workers, sgd);
}

Distribution distribution_of_first(const StageOptions& values, const ModelOptions& model,
                                   int processes, const std::string& transport) {
  const int least = has_strategy(values, "hybrid") ? 2 * tensor_ranks_of(values, 0) : 2;
  processes = std::max(processes, least);
  const int tensor_ranks = tensor_ranks_of(values, processes);
  if (is_split(values)) check_splittable(model, tensor_ranks, values.at("strategy"));
  return {.network = {0, tensor_ranks},
          .samples = {0, processes / tensor_ranks},
          .overlaps = overlaps(values).value_or(!adds_up_in_kernels(transport)),
          .sums_update = can_update(transport)};
}

std::optional<bool> overlaps(const StageOptions& values) {
  const std::string& choice = values.at("overlap");
  return choice == "auto" ? std::nullopt : std::optional(choice == "on");
}

std::chrono::seconds patience_of(const StageOptions& values) {
  return std::chrono::seconds(std::stoll(values.at("timeout")));
}

}  // namespace stagewise::mpi
