#include "network/workers.hpp"

#include "network/differentiate.hpp"

namespace stagewise {
namespace {

/// The mean of every parameter over the workers.
void append_means(Program& program, const std::vector<ValueId>& parameters,
                  const std::vector<std::vector<ValueId>>& workers, bool is_taken_over) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Mean mean{.terms = {}, .mean = parameters[k]};
    for (const std::vector<ValueId>& own : workers) mean.terms.emplace_back(own[k]);
    program.append(mean);
    if (!is_taken_over) continue;
    for (const std::vector<ValueId>& own : workers) {
      program.append(Copy{.x = parameters[k], .y = own[k]});
    }
  }
}

}  // namespace

//! [append_copy]
std::vector<ValueId> append_copy(Program& to, const Program& from, const CopyOptions& options) {
  std::vector<ValueId> copies(from.values.size());
  const auto copy = [&](ValueId id, const auto& copy_again) -> ValueId {
    ValueId& result = copies[static_cast<std::size_t>(id.index)];
    if (result) return result;
    Value value = from[id];
    const bool is_order = value.role == Role::data && value.is_batched;
    const bool is_shared = is_parameter(value.role) ? !options.has_parameters : value.role == Role::data && !is_order;
    if (is_shared) return result = id;
    value.name += options.whose;
    value.part = options.part;
    if (value.memory_of) value.memory_of = copy_again(value.memory_of, copy_again);
    if (is_order && !options.has_samples) value.memory_of = id;  // a part of the same order
    return result = to.add(std::move(value));
  };
  for (Line line : from.lines) {
    for_each_operand(line.operation, [&](ValueId& id, Use /*use*/) { id = copy(id, copy); });
    to.lines.push_back(std::move(line));
  }
  return copies;
}
//! [append_copy]

std::vector<ValueId> pick(const std::vector<ValueId>& copies, const std::vector<ValueId>& values) {
  std::vector<ValueId> result;
  for (const ValueId id : values) result.push_back(pick(copies, id));
  return result;
}

//! [build_training]
TrainingPrograms build_training(const Model& model, const Sgd& sgd, const WorkerOptions& options) {
  const Differentiated one = differentiate(model.program, model.row_losses);
  const std::vector<ValueId> gradients = pick(one.gradients, model.parameters);
  const bool own = options.average == Average::weights;
  TrainingPrograms result;
  result.optimizer.sgd = sgd;
  Program& step = result.step;
  if (options.workers == 1 && !own) {
    step = one.program;
    append_updates(step, model.parameters, gradients, result.optimizer);
    result.totals = {model.totals};
    return result;
  }

  step.values = one.program.values;
  std::vector<Sum> sums;
  for (const ValueId gradient : gradients) sums.push_back({.terms = {}, .sum = gradient});
  for (int worker = 0; worker < options.workers; ++worker) {
    const std::vector<ValueId> copies = append_copy(
        step, one.program,
        {.part = {worker, options.workers, own}, .whose = "@" + std::to_string(worker), .has_parameters = own});
    const std::vector<ValueId> own_gradients = pick(copies, gradients);
    result.totals.push_back(pick(copies, model.totals));
    if (own) {
      result.workers.push_back(pick(copies, model.parameters));
      append_updates(step, result.workers.back(), own_gradients, result.optimizer);
    } else {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k].terms.emplace_back(own_gradients[k]);
    }
  }
  if (own) {
    result.mean.values = result.take_over.values = step.values;
    append_means(result.mean, model.parameters, result.workers, false);
    append_means(result.take_over, model.parameters, result.workers, true);
    return result;
  }
  for (Sum& sum : sums) step.append(std::move(sum));
  append_updates(step, model.parameters, gradients, result.optimizer);
  return result;
}
//! [build_training]

}  // namespace stagewise
