#include "05_mpi/distribute.hpp"

#include <algorithm>
#include <string>

#include "network/differentiate.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

ValueId at(const std::vector<ValueId>& ids, ValueId which) {
  return ids[static_cast<std::size_t>(which.index)];
}

/// "fc1" of "fc1/weight".
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.find('/'));
}

/// What the copy of a program reads from.
StepPrograms step_programs(const Model& model, const std::vector<ValueId>& copies,
                           const Part& part) {
  return {.training = {},
          .features = model.features,
          .labels = model.labels,
          .order = at(copies, model.order),
          .batch = at(copies, model.batch),
          .batch_labels = at(copies, model.batch_labels),
          .part = part};
}

//! [buckets]
/// A bucket is not sent before it has so many numbers: many small messages cost more than one.
constexpr Index min_bucket = 1 << 18;

/// The gradients in the order in which they are computed, layer by layer from the last one on, in
/// buckets; or all of them in one, if they are to leave together.
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
  return buckets;
}

/// Puts each bucket behind the line that completes it.
void insert_buckets(Program& program, const std::vector<AllReduce>& buckets) {
  for (const AllReduce& bucket : buckets) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < program.lines.size(); ++i) {
      const std::vector<ValueId> written = written_by(program.lines[i].operation);
      const bool completes =
          std::any_of(bucket.values.begin(), bucket.values.end(), [&](ValueId id) {
            return std::find(written.begin(), written.end(), id) != written.end();
          });
      if (completes) end = i + 1;
    }
    program.lines.insert(program.lines.begin() + static_cast<std::ptrdiff_t>(end), Line{bucket});
  }
}
//! [buckets]

}  // namespace

//! [distribute_data]
StepPrograms distribute_data(const Model& model, const Sgd& sgd, Average average, const Part& part,
                             bool overlaps) {
  const bool own = average == Average::weights;
  const Differentiated one = differentiate(model.program, model.row_losses);
  Program step{.values = one.program.values, .lines = {}};
  const std::vector<ValueId> copies = append_copy(step, one.program,
                                                  {.part = {part.index, part.count, own},
                                                   .whose = "@" + std::to_string(part.index),
                                                   .has_parameters = own,
                                                   .has_samples = true});
  const std::vector<ValueId> gradients = pick(copies, pick(one.gradients, model.parameters));
  StepPrograms result = step_programs(model, copies, part);
  TrainingPrograms& training = result.training;
  training.totals = {at(copies, model.totals)};
  if (!own) {
    if (part.count > 1) insert_buckets(step, buckets_of(model, gradients, overlaps));
    append_updates(step, model.parameters, gradients, sgd);
    training.step = std::move(step);
    return result;
  }

  const std::vector<ValueId> parameters = pick(copies, model.parameters);
  append_updates(step, parameters, gradients, sgd);
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

// -------------------------------------------------------------------------------- tensor
// parallelism

namespace {

/// Gives a value, and all that is computed from it in place, another shape.
void reshape(Program& program, ValueId id, const Shape& shape) {
  const ValueId root = program.memory_of(id);
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    if (program.memory_of({i}) == root) program[{i}].shape = shape;
  }
}

/// How many units of a layer a rank has.
Index units_of(Index width, const Part& part) {
  return shard_of(width, part.count, part.index).rows;
}

/// Splits the layers of a forward program, pair by pair.
class Splitter {
 public:
  Splitter(Program& program, const Part& part, std::vector<SplitParameter>& parameters)
      : program_(&program), part_(part), parameters_(&parameters) {}

  //! [split]
  void split_layers() {
    std::vector<std::size_t> layers;  // the lines of their products
    for (std::size_t i = 0; i < program_->lines.size(); ++i) {
      if (std::holds_alternative<Gemm>(program_->lines[i].operation)) layers.push_back(i);
    }
    std::size_t inserted = 0;
    for (std::size_t k = 0; k + 1 < layers.size(); k += 2) {
      const std::size_t first = layers[k] + inserted;
      const Index units = split_columns(first);
      if (k > 0) {  // what the layer reads has a gradient, of which the rank knows its part
        replicate_input(first);
        ++inserted;
      }
      const std::size_t second = layers[k + 1] + inserted;
      const Gemm gemm = std::get<Gemm>(program_->lines[second].operation);
      program()[gemm.b].shape = {units, program()[gemm.b].shape[1]};
      mark(gemm.b, SplitAlong::rows);
      insert(second + 1, AllReduce{.values = {gemm.c}});
      ++inserted;
    }
  }
  //! [split]

 private:
  Program& program() { return *program_; }

  void insert(std::size_t line, Operation operation) {
    program_->lines.insert(program_->lines.begin() + static_cast<std::ptrdiff_t>(line),
                           Line{std::move(operation)});
  }

  void mark(ValueId parameter, SplitAlong along) {
    for (SplitParameter& one : *parameters_) {
      if (one.own == parameter) one.along = along;
    }
  }

  /// @return how many units of the layer this rank has.
  Index split_columns(std::size_t line) {
    const Gemm gemm = std::get<Gemm>(program_->lines[line].operation);
    const Shape weight = program()[gemm.b].shape;
    const Index units = units_of(weight[1], part_);
    program()[gemm.b].shape = {weight[0], units};
    mark(gemm.b, SplitAlong::columns);
    reshape(program(), gemm.c, {units});
    for (Line& other : program_->lines) {
      const AddBias* const add = std::get_if<AddBias>(&other.operation);
      if (add == nullptr || add->x != gemm.c) continue;
      program()[add->bias].shape = {units};
      mark(add->bias, SplitAlong::columns);
    }
    return units;
  }

  void replicate_input(std::size_t line) {
    Gemm& gemm = std::get<Gemm>(program_->lines[line].operation);
    Value same = program()[gemm.a];
    same.memory_of = gemm.a;
    same.name = "each rank's " + same.name;
    const ValueId input = gemm.a;
    gemm.a = program_->add(std::move(same));
    insert(line, Replicate{.x = input, .y = gemm.a});
  }

  Program* program_;
  Part part_;
  std::vector<SplitParameter>* parameters_;
};

}  // namespace

void check_splittable(const ModelOptions& model, int ranks) {
  if (model.name != "mlp" || model.hidden.empty()) {
    throw UsageError(
        "--strategy tensor splits the hidden layers of --model mlp, and there is none; --strategy "
        "data trains every network");
  }
  for (std::size_t k = 0; k < model.hidden.size(); k += 2) {
    if (model.hidden[k] < ranks) {
      throw UsageError("--strategy tensor cannot split " +
                       count_of(model.hidden[k], "hidden unit") + " among " +
                       count_of(ranks, "process", "processes"));
    }
  }
}

//! [distribute_tensor]
TensorPrograms distribute_tensor(const Model& model, const Sgd& sgd, const Part& part) {
  Program forward{.values = model.program.values, .lines = {}};
  const std::vector<ValueId> copies = append_copy(forward, model.program,
                                                  {.part = {},
                                                   .whose = "@" + std::to_string(part.index),
                                                   .has_parameters = true,
                                                   .has_samples = true});
  TensorPrograms result{.step = step_programs(model, copies, {}), .parameters = {}};
  const std::vector<ValueId> parameters = pick(copies, model.parameters);
  for (const ValueId id : parameters) result.parameters.push_back({id});
  if (part.count > 1) Splitter(forward, part, result.parameters).split_layers();

  Differentiated one = differentiate(forward, at(copies, model.row_losses));
  TrainingPrograms& training = result.step.training;
  training.totals = {at(copies, model.totals)};
  append_updates(one.program, parameters, pick(one.gradients, parameters), sgd);
  training.step = std::move(one.program);
  return result;
}
//! [distribute_tensor]

namespace {

/// Calls `copy(whole_first, part_first, count)` for every run of numbers that a whole parameter and
/// a rank's part of it have in common.
template <typename Copy>
void for_each_run(const Shape& whole, SplitAlong along, const Part& part, const Copy& copy) {
  const Index columns = whole[whole.rank() - 1];
  const Index rows = whole.elements() / columns;
  if (along == SplitAlong::columns) {  // a piece of each row
    const Shard own = shard_of(columns, part.count, part.index);
    for (Index row = 0; row < rows; ++row) {
      copy(row * columns + own.first, row * own.rows, own.rows);
    }
  } else if (along == SplitAlong::rows) {  // one behind the other
    const Shard own = shard_of(rows, part.count, part.index);
    copy(own.first * columns, 0, own.rows * columns);
  } else {
    copy(0, 0, whole.elements());
  }
}

}  // namespace

ParameterValues part_of(const ParameterValues& whole, SplitAlong along, const Part& part) {
  ParameterValues result{.name = whole.name, .shape = whole.shape, .values = {}};
  const Shape& shape = whole.shape;
  if (along == SplitAlong::columns) {
    const Index units = units_of(shape[shape.rank() - 1], part);
    result.shape = shape.rank() == 1 ? Shape{units} : Shape{shape[0], units};
  } else if (along == SplitAlong::rows) {
    result.shape = {units_of(shape[0], part), shape[1]};
  }
  result.values.resize(static_cast<std::size_t>(result.shape.elements()));
  for_each_run(whole.shape, along, part, [&](Index source, Index target, Index count) {
    std::copy_n(whole.values.begin() + source, count, result.values.begin() + target);
  });
  return result;
}

void merge(const ParameterValues& part_values, SplitAlong along, const Part& part,
           ParameterValues& whole) {
  for_each_run(whole.shape, along, part, [&](Index target, Index source, Index count) {
    std::copy_n(part_values.values.begin() + source, count, whole.values.begin() + target);
  });
}

}  // namespace stagewise::mpi
