#include "app/training_start.hpp"

#include "app/values.hpp"
#include "io/checksum.hpp"
#include "network/initialize.hpp"
#include "tensor/counts.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"
#include "training/parameters.hpp"

namespace stagewise {

TrainingStart read_start(const Stage& stage, RunOptions& options) {
  TrainingStart start{.file = options.resume.empty() ? options.load : options.resume};
  if (!start.is_given()) return start;
  start.checkpoint = load_checkpoint(start.file);
  if (stage.ranks != nullptr)
    stage.ranks->expect_same(start.source(), checksum_of(start.checkpoint));
  expect_finite(start.checkpoint, start.source());
  if (options.resume.empty()) {
    adopt_model(start.checkpoint, start.file, options);
  } else {
    with_adopted(options, start.file,
                 [&] { adopt_training(start.checkpoint, start.file, options); });
  }
  return start;
}

void with_adopted(const RunOptions& options, const std::filesystem::path& file,
                  const std::function<void()>& work) {
  try {
    work();
  } catch (const OptionError& error) {
    std::vector<std::string> attributes;
    for (const std::string& name : error.options()) {
      if (options.given.contains(name)) throw;
      if (options.adopted.contains(name)) attributes.push_back(in_quotes(name));
    }
    if (attributes.empty()) throw;
    throw Error("the checkpoint " + file.string() + ", which sets " + list_of(attributes) +
                ", cannot be used here: " + error.what());
  }
}

void check_resumption(const RunOptions& options, const TrainingStart& start, Index samples,
                      Index steps_per_epoch) {
  if (options.resume.empty()) return;
  const Checkpoint& checkpoint = start.checkpoint;
  if (checkpoint.epoch > options.training.epochs) {
    throw OptionError("--epochs " + std::to_string(options.training.epochs) +
                          " is the total, but " + start.source() + " already has " +
                          count_of(checkpoint.epoch, "epoch"),
                      {"epochs"});
  }
  if (checkpoint.step != checkpoint.epoch * steps_per_epoch) {
    throw Error(start.source() + " stopped after " + count_of(checkpoint.step, "step") + " in " +
                count_of(checkpoint.epoch, "epoch") + ", which does not fit " +
                count_of(samples, "training sample") + "; it was trained on other data");
  }
}

std::vector<std::vector<ParameterValues>> starting_parameters(const Model& model,
                                                              const RunOptions& options,
                                                              const TrainingStart& start,
                                                              std::string& note) {
  const auto start_of = [&](std::uint64_t worker) {
    return start.is_given()
               ? in_order_of(model, start.checkpoint.parameters, start.source())
               : initial_parameters(model, options.model, options.training.seed, worker);
  };
  if (options.workers.average == Average::gradients) return {start_of(0)};
  std::vector<std::vector<ParameterValues>> starts;
  if (!options.resume.empty()) {
    starts = start.checkpoint.workers;
    const bool is_same = starts.size() == static_cast<std::size_t>(options.workers.workers);
    if (!is_same && options.ranks_are_workers) {
      note = "the checkpoint holds the weights of " + count_of(std::ssize(starts), "worker") +
             ": " + with_thousands(options.workers.workers) + " continue from their mean" +
             (start.checkpoint.optimizer.empty() ? "" : ", their optimizer anew");
      starts.clear();
    } else if (!is_same) {
      throw Error(start.source() + " holds the parameters of " +
                  count_of(std::ssize(starts), "worker") + ", but its training had " +
                  with_thousands(options.workers.workers));
    }
  }
  for (std::size_t worker = starts.size();
       worker < static_cast<std::size_t>(options.workers.workers); ++worker) {
    starts.push_back(start_of(worker));
  }
  return starts;
}

}  // namespace stagewise
