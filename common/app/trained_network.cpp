#include "app/trained_network.hpp"

#include <iostream>
#include <utility>

#include "app/header.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {

void adopt_shape(const Checkpoint& checkpoint, const Dataset& dataset, RunOptions& options) {
  options.model.sample = dataset.sample_shape();
  options.model.classes = dataset.classes();
  Shape sample;
  int classes = 0;
  if (!read_data_shape(checkpoint, options.load, sample, classes)) return;
  if (sample != dataset.sample_shape() || dataset.classes() > classes) {
    throw Error("the checkpoint " + options.load.string() + " is for shape " + sample.to_string() +
                " and " + count_of(classes, "class", "classes") + ", but the data have " +
                dataset.sample_shape().to_string() + " and " +
                count_of(dataset.classes(), "class", "classes"));
  }
  options.model.classes = classes;
}

template <typename T>
Network<T> make_trained(const Stage& stage, const RunOptions& options, const Checkpoint& checkpoint,
                        Index rows) {
  Model model = build_model(options.model);
  const std::string source = "the checkpoint " + options.load.string();
  in_order_of(model, checkpoint.parameters, source);  // before memory is allocated for others
  Network<T> network(std::move(model), stage.in<T>().make_executor(options.stage),
                     [&](const Program& program) {
                       return stage.in<T>().rewritten(program, options.stage, rows);
                     });
  network.load(rows, announce_size);
  copy_parameters_in(network, checkpoint.parameters, source);
  return network;
}

void print_header_of_trained(const Stage& stage, const RunOptions& options,
                             const std::string& samples, int classes, const Checkpoint& checkpoint,
                             const Model& model, const std::vector<std::string>& notes) {
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
