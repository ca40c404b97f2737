#include <algorithm>
#include <string>

#include "05_mpi/distribute.hpp"
#include "network/differentiate.hpp"

namespace stagewise::mpi {
namespace {

/// "fc1" of "fc1/weight".
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.find('/'));
}

//! [buckets]
/// A bucket is full once it has at least this many numbers: many small messages cost more than one
/// large one.
constexpr Index min_bucket = 1 << 18;

/// Moves the gradients of biases to the front, so that only the second part of a message has an l2.
void put_biases_first(const Model& model, std::span<const ValueId> gradients, AllReduce& bucket) {
  std::stable_partition(bucket.values.begin(), bucket.values.end(), [&](ValueId gradient) {
    const auto k = std::find(gradients.begin(), gradients.end(), gradient) - gradients.begin();
    return model[model.parameters[static_cast<std::size_t>(k)]].role != Role::weight;
  });
}

/// The gradients in buckets, in the order in which they are computed, from the last layer to the
/// first; or all of them in one bucket, if nothing is to overlap.
std::vector<AllReduce> buckets_of(const Model& model, const std::vector<ValueId>& gradients,
                                  bool overlaps) {
  std::vector<AllReduce> buckets(1);
  Index count = 0;
  for (std::size_t k = gradients.size(); k-- > 0;) {
    const bool begins_layer =
        k + 1 < gradients.size() &&
        layer_of(model[model.parameters[k]].name) != layer_of(model[model.parameters[k + 1]].name);
    if (overlaps && begins_layer && count >= min_bucket) {
      buckets.emplace_back();
      count = 0;
    }
    buckets.back().values.emplace_back(gradients[k]);
    count += model[model.parameters[k]].shape.elements();
  }
  for (AllReduce& bucket : buckets) put_biases_first(model, gradients, bucket);
  return buckets;
}

}  // namespace

void insert_buckets(Program& program, const Model& model, const std::vector<ValueId>& gradients,
                    bool overlaps) {
  for (const AllReduce& bucket : buckets_of(model, gradients, overlaps)) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < program.lines.size(); ++i) {
      const std::vector<ValueId> written = written_by(program.lines[i].operation);
      if (std::find_first_of(written.begin(), written.end(), bucket.values.begin(),
                             bucket.values.end()) != written.end()) {
        end = i + 1;
      }
    }
    program.lines.insert(program.lines.begin() + static_cast<std::ptrdiff_t>(end), Line{bucket});
  }
}
//! [buckets]

//! [distribute_data]
StepPrograms distribute_data(const Model& model, const Sgd& sgd, Average average, const Part& part,
                             bool overlaps) {
  const bool own = average == Average::weights;
  const Differentiated one = differentiate(model.program, model.row_losses);
  Program step(one.program.values);
  const std::vector<ValueId> copies = append_copy(step, one.program,
                                                  {.part = {part.index, part.count, own},
                                                   .whose = "@" + std::to_string(part.index),
                                                   .has_parameters = own,
                                                   .has_samples = true});
  const std::vector<ValueId> gradients = pick(copies, pick(one.gradients, model.parameters));
  StepPrograms result = step_programs(model, copies, part);
  TrainingPrograms& training = result.training;
  training.totals = {pick(copies, model.totals)};
  training.optimizer.sgd = sgd;
  if (!own) {
    if (part.count > 1) insert_buckets(step, model, gradients, overlaps);
    append_updates(step, model.parameters, gradients, training.optimizer);
    training.step = std::move(step);
    return result;
  }

  const std::vector<ValueId> parameters = pick(copies, model.parameters);
  append_updates(step, parameters, gradients, training.optimizer);
  training.workers = {parameters};
  training.mean.values = step.values;
  AllReduce sum{.values = {}, .divides = true};
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    training.mean.append(Copy{.x = parameters[k], .y = model.parameters[k]});
    sum.values.emplace_back(model.parameters[k]);
  }
  if (part.count > 1) training.mean.append(sum);
  training.take_over = training.mean;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    training.take_over.append(Copy{.x = model.parameters[k], .y = parameters[k]});
  }
  training.step = std::move(step);
  return result;
}
//! [distribute_data]

}  // namespace stagewise::mpi
