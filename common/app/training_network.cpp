#include "app/training_network.hpp"

#include <utility>

#include "network/workers.hpp"

namespace stagewise {

template <typename T>
Network<T> make_network(const Stage& stage, const RunOptions& options, Model model) {
  const Index max_rows = options.training.batch_size;
  const auto rewrite = [&](const Program& program) {
    return stage.in<T>().rewritten(program, options.stage, max_rows);
  };
  Network<T> network(std::move(model), stage.in<T>().make_executor(options.stage), rewrite);
  if (!stage.in<T>().step_program) {  // before the starts take the host's memory
    network.executor->expect_room(
        rewrite(build_training(network.model, options.training.sgd, options.workers).step),
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
  TrainingPrograms programs =
      build_training(arguments.setup.network.model, arguments.sgd, arguments.setup.workers);
  for (Program* const program : {&programs.step, &programs.mean, &programs.take_over}) {
    *program = in.rewritten(*program, arguments.options, arguments.setup.max_rows);
  }
  return std::make_unique<ProgramStep<T>>(arguments.setup, std::move(programs), arguments.starts);
}

template Network<float> make_network(const Stage& stage, const RunOptions& options, Model model);
template Network<double> make_network(const Stage& stage, const RunOptions& options, Model model);
template std::unique_ptr<Step> make_step(const Stage& stage, const StepArguments<float>& arguments);
template std::unique_ptr<Step> make_step(const Stage& stage,
                                         const StepArguments<double>& arguments);

}  // namespace stagewise
