#include "05_mpi/distribute.hpp"
#include "network/differentiate.hpp"
#include "tensor/counts.hpp"
#include "tensor/option_error.hpp"

namespace stagewise::mpi {
namespace {

/// Gives a value, and all values computed from it in place, another shape.
void reshape(Program& program, ValueId id, const Shape& shape) {
  const ValueId root = program.memory_of(id);
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    if (program.memory_of({i}) == root) program[{i}].shape = shape;
  }
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
      if (k > 0) {  // the rank has only its part of the input's gradient
        replicate_input(first);
        ++inserted;
      }
      const std::size_t second = layers[k + 1] + inserted;
      const Gemm gemm = std::get<Gemm>(program_->lines[second].operation);
      (*program_)[gemm.b].shape = {units, (*program_)[gemm.b].shape[1]};
      mark(gemm.b, SplitAlong::rows);
      insert(second + 1, AllReduce{.values = {gemm.c}, .among = Group::tensor});
      ++inserted;
    }
  }
  //! [split]

 private:
  void insert(std::size_t line, Operation operation) {
    program_->lines.insert(program_->lines.begin() + static_cast<std::ptrdiff_t>(line),
                           Line{std::move(operation)});
  }

  void mark(ValueId parameter, SplitAlong along) {
    for (SplitParameter& one : *parameters_) {
      if (one.own == parameter) one.along = along;
    }
  }

  /// @return how many of the layer's units this rank has.
  Index split_columns(std::size_t line) {
    const Gemm gemm = std::get<Gemm>(program_->lines[line].operation);
    const Shape weight = (*program_)[gemm.b].shape;
    const Index units = units_of(weight[1], part_).rows;
    (*program_)[gemm.b].shape = {weight[0], units};
    mark(gemm.b, SplitAlong::columns);
    reshape(*program_, gemm.c, {units});
    for (Line& other : program_->lines) {
      const AddBias* const add = std::get_if<AddBias>(&other.operation);
      if (add == nullptr || add->x != gemm.c) continue;
      (*program_)[add->bias].shape = {units};
      mark(add->bias, SplitAlong::columns);
    }
    return units;
  }

  void replicate_input(std::size_t line) {
    Gemm& gemm = std::get<Gemm>(program_->lines[line].operation);
    Value same = (*program_)[gemm.a];
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

void check_splittable(const ModelOptions& model, int ranks, const std::string& strategy) {
  if (model.name != "mlp" || model.hidden.empty()) {
    throw OptionError("--strategy " + strategy +
                          " splits the hidden layers of --model mlp, and there is none; --strategy "
                          "data trains every network",
                      {"strategy", "model"});
  }
  for (std::size_t k = 0; k < model.hidden.size(); k += 2) {
    if (model.hidden[k] < ranks) {
      throw OptionError("--strategy " + strategy + " cannot split " +
                            count_of(model.hidden[k], "hidden unit") + " among " +
                            count_of(ranks, "process", "processes"),
                        {"strategy"});
    }
  }
}

//! [distribute_tensor]
TensorPrograms distribute_tensor(const Model& model, const Sgd& sgd, const Part& part,
                                 const Part& samples, bool overlaps) {
  Program forward(model.program.values);
  const std::vector<ValueId> copies = append_copy(forward, model.program,
                                                  {.part = samples,
                                                   .whose = "@" + std::to_string(part.index),
                                                   .has_parameters = true,
                                                   .has_samples = true});
  TensorPrograms result{.step = step_programs(model, copies, samples)};
  const std::vector<ValueId> parameters = pick(copies, model.parameters);
  for (const ValueId id : parameters) result.parameters.push_back({id});
  if (part.count > 1) Splitter(forward, part, result.parameters).split_layers();

  Differentiated one = differentiate(forward, pick(copies, model.row_losses));
  // Updates are those of the whole batch, also on a rank that has no samples of it.
  for (const ValueId id : parameters) one.program[id].part = {};
  TrainingPrograms& training = result.step.training;
  training.totals = {pick(copies, model.totals)};
  training.optimizer.sgd = sgd;
  const std::vector<ValueId> gradients = pick(one.gradients, parameters);
  if (samples.count > 1) insert_buckets(one.program, model, gradients, overlaps);
  append_updates(one.program, parameters, gradients, training.optimizer);
  training.step = std::move(one.program);
  return result;
}
//! [distribute_tensor]

}  // namespace stagewise::mpi
