#include "cli/stage_network.hpp"

#include <iostream>
#include <utility>

#include "cli/run.hpp"
#include "network/workers.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {

template <typename T>
Network<T> make_network(const Stage& stage, const RunOptions& options, Model model) {
  const Index max_rows = options.training.batch_size;
  const auto rewrite = [&](const Program& program) {
    return stage.in<T>().rewritten(program, options.stage, max_rows);
  };
  Network<T> network(std::move(model), stage.in<T>().make_executor(options.stage), rewrite);
  if (!stage.in<T>().step_program) {  // before the starts take the host's memory
    network.executor->expect_room(rewrite(build_training(network.model, options.training.sgd, options.workers).step),
                                  max_rows);
  }
  return network;
}

template <typename T>
std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<T>& arguments) {
  const InPrecision<T>& in = stage.in<T>();
  if (in.make_step) {
    if (auto own = in.make_step(arguments)) return own;
  }
  TrainingPrograms programs = build_training(arguments.setup.network.model, arguments.sgd, arguments.setup.workers);
  for (Program* const program : {&programs.step, &programs.mean, &programs.take_over}) {
    *program = in.rewritten(*program, arguments.options, arguments.setup.max_rows);
  }
  return std::make_unique<ProgramStep<T>>(arguments.setup, std::move(programs), arguments.starts);
}

template Network<float> make_network(const Stage& stage, const RunOptions& options, Model model);
template Network<double> make_network(const Stage& stage, const RunOptions& options, Model model);
template std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<float>& arguments);
template std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<double>& arguments);

void adopt_shape(const Checkpoint& checkpoint, const Dataset& dataset, RunOptions& options) {
  options.model.sample = dataset.sample_shape();
  options.model.classes = dataset.classes();
  const auto shape = read_data_shape(checkpoint, options.load);
  if (!shape) return;
  if (shape->sample != dataset.sample_shape() || dataset.classes() > shape->classes) {
    throw Error("the checkpoint " + options.load.string() + " is for shape " + shape->sample.to_string() + " and " +
                count_of(shape->classes, "class", "classes") + ", but the data have " +
                dataset.sample_shape().to_string() + " and " + count_of(dataset.classes(), "class", "classes"));
  }
  options.model.classes = shape->classes;
}

std::vector<std::string> prepare_use(const Stage& stage, RunOptions& options, const Checkpoint& checkpoint) {
  std::vector<std::string> notes;
  if (options.image.empty()) notes = adopt_data(checkpoint, options, false);
  drop_idle_options(stage, options);
  check_files(options, stage.all_ranks());
  if (stage.prepare) stage.prepare(options.stage);
  check_results_writable(stage, options);
  return notes;
}

template <typename T>
Network<T> make_trained(const Stage& stage, const RunOptions& options, const Checkpoint& checkpoint, Index rows) {
  Model model = build_model(options.model);
  const std::string source = "the checkpoint " + options.load.string();
  in_order_of(model, checkpoint.parameters, source);  // before memory is allocated for others
  Network<T> network(std::move(model), stage.in<T>().make_executor(options.stage),
                     [&](const Program& program) { return stage.in<T>().rewritten(program, options.stage, rows); });
  network.load(rows, announce_size);
  copy_parameters_in(network, checkpoint.parameters, source);
  return network;
}

void print_header_of_trained(const Stage& stage, const RunOptions& options, const std::string& samples, int classes,
                             const Checkpoint& checkpoint, const Model& model, const std::vector<std::string>& notes) {
  print_header(stage, options, samples, options.model.sample, classes, model.parameter_count());
  if (stage.describe_ranks) std::cout << stage.describe_ranks(options.stage, false) << '\n';
  std::cout << "load   " << options.load.string();
  if (!checkpoint.model.empty()) std::cout << ", after epoch " << checkpoint.epoch;
  std::cout << '\n';
  for (const std::string& note : notes) print_note(note);
  std::cout << std::flush;
}

template Network<float> make_trained(const Stage&, const RunOptions&, const Checkpoint&, Index);
template Network<double> make_trained(const Stage&, const RunOptions&, const Checkpoint&, Index);

}  // namespace stagewise
