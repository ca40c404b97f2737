#include "04_minibatch/fuse.hpp"

#include <algorithm>
#include <map>

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/linear.hpp"
#include "04_minibatch/output_layer.hpp"
#include "network/rewriter.hpp"
#include "network/shard.hpp"

namespace stagewise::minibatch {
namespace {

/// Finds patterns, and replaces them.
template <typename T>
class Fuser {
 public:
  Fuser(const Program& program, Index max_rows) : rewriter_(program), max_rows_(max_rows) {}

  /// The totals come last: nothing waits for them.
  Program finish() {
    Program program = rewriter_.finish();
    std::stable_partition(program.lines.begin(), program.lines.end(), [](const Line& line) {
      return !std::holds_alternative<AddScores>(line.operation);
    });
    return program;
  }

  /// Applies a pattern wherever it fits. It is given a line, and returns whether it has changed the
  /// program.
  void everywhere(bool (Fuser::*pattern)(std::size_t)) {
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < rewriter_.size(); ++i) {
        if ((this->*pattern)(i)) changes = true;
      }
    }
  }

  //! [linear]
  bool linear(std::size_t i) {
    const auto* const gemm = rewriter_.get<Gemm>(i);
    if (gemm == nullptr || gemm->op_a == Transpose::yes || gemm->op_b == Transpose::yes) {
      return false;
    }
    const Linear product = {.input = gemm->a, .weight = gemm->b, .output = gemm->c};
    if (!fits(product.input, product.weight)) return false;
    Linear fused = product;
    std::vector<std::size_t> members = {i};
    if (const auto bias = rewriter_.reader_of<AddBias>(fused.output)) {
      fused.bias = rewriter_.get<AddBias>(*bias)->bias;
      fused.output = rewriter_.get<AddBias>(*bias)->y;
      members.push_back(*bias);
    }
    take_activation(fused, members);
    if (rewriter_.fuse(members, fused)) return true;
    // Something stands in between, such as a sum over processes.
    return rewriter_.fuse({i}, product).has_value();
  }
  //! [linear]

  //! [output_layer]
  bool output_layer(std::size_t i) {
    const auto* const layer = rewriter_.get<Linear>(i);
    Ending ending;
    if (layer == nullptr || !find_ending(layer->output, layer->activation, ending)) return false;
    const Shape& weight = value(layer->weight).shape;
    if (!fits_output_layer<T>(weight[0], weight[1])) return false;
    OutputLayer fused = {.input = layer->input,
                         .weight = layer->weight,
                         .bias = layer->bias,
                         .labels = ending.labels,
                         .doutput = ending.doutputs,
                         .scores = add_scores(ending),
                         .at = ending.attributes};
    std::vector<std::size_t> members = ending.members;
    members.push_back(i);
    for (const std::size_t reader : rewriter_.readers_of(ending.doutputs)) {
      const auto* const back = rewriter_.get<LinearInputGradient>(reader);
      if (back == nullptr || back->weight != fused.weight) continue;
      fused.dinput = back->dinput;
      fused.input_activation = back->input_activation;
      members.push_back(reader);
    }
    return replace_ending(members, fused, fused.scores, ending.totals);
  }
  //! [output_layer]

  bool loss(std::size_t i) {
    ValueId outputs;
    if (const auto* const op = rewriter_.get<SoftmaxCrossEntropy>(i)) outputs = op->logits;
    if (const auto* const op = rewriter_.get<SquaredError>(i)) outputs = op->outputs;
    if (!outputs) return false;
    Ending ending;
    if (!find_ending(outputs, activation_of(outputs), ending)) return false;
    const Loss fused = {.outputs = outputs,
                        .labels = ending.labels,
                        .doutputs = ending.doutputs,
                        .scores = add_scores(ending),
                        .at = ending.attributes};
    return replace_ending(ending.members, fused, fused.scores, ending.totals);
  }

  bool input_gradient(std::size_t i) {
    const auto* const gemm = rewriter_.get<Gemm>(i);
    if (gemm == nullptr || gemm->op_a == Transpose::yes || gemm->op_b == Transpose::no) {
      return false;
    }
    const LinearInputGradient product = {.doutput = gemm->a, .weight = gemm->b, .dinput = gemm->c};
    if (!fits(product.dinput, product.weight)) return false;
    LinearInputGradient fused = product;
    std::vector<std::size_t> members = {i};
    const auto take = [&](const auto& back, Activation activation, std::size_t line) {
      fused.input = back.y;
      fused.dinput = back.dx;
      fused.input_activation = activation;
      members.push_back(line);
    };
    if (const auto relu = rewriter_.reader_of<ReluBackward>(fused.dinput)) {
      take(*rewriter_.get<ReluBackward>(*relu), Activation::relu, *relu);
    } else if (const auto sigmoid = rewriter_.reader_of<SigmoidBackward>(fused.dinput)) {
      take(*rewriter_.get<SigmoidBackward>(*sigmoid), Activation::sigmoid, *sigmoid);
    }
    if (rewriter_.fuse(members, fused)) return true;
    return rewriter_.fuse({i}, product).has_value();
  }

  //! [gradients]
  bool gradients(std::size_t i) {
    const auto* const gemm = rewriter_.get<Gemm>(i);
    if (gemm == nullptr || gemm->op_a == Transpose::no || gemm->op_b == Transpose::yes) {
      return false;
    }
    LinearGradients fused = {.input = gemm->a, .doutput = gemm->b, .dweight = gemm->c};
    if (!fits(fused.input, fused.dweight)) return false;
    std::vector<std::size_t> members = {i};
    if (const auto sums = rewriter_.reader_of<ColumnSums>(fused.doutput)) {
      fused.dbias = rewriter_.get<ColumnSums>(*sums)->y;
      members.push_back(*sums);
    }
    const auto update = rewriter_.reader_of<SgdUpdate>(fused.dweight);
    const auto bias_update =
        fused.dbias ? rewriter_.reader_of<SgdUpdate>(fused.dbias) : std::nullopt;
    if (update && (bias_update || !fused.dbias)) {
      LinearGradients updating = fused;
      updating.weight = rewriter_.get<SgdUpdate>(*update)->parameter;
      updating.learning_rate = rewriter_.get<SgdUpdate>(*update)->learning_rate;
      updating.l2 = rewriter_.get<SgdUpdate>(*update)->l2;
      updating.dweight = {};
      updating.dbias = {};
      std::vector<std::size_t> all = members;
      all.push_back(*update);
      if (bias_update) {
        updating.bias = rewriter_.get<SgdUpdate>(*bias_update)->parameter;
        all.push_back(*bias_update);
      }
      if (rewriter_.fuse(all, updating)) return true;
    }
    return rewriter_.fuse(members, fused).has_value();
  }
  //! [gradients]

  bool convolution(std::size_t i) {
    const auto* const op = rewriter_.get<Convolution>(i);
    if (op == nullptr) return false;
    ConvolutionReluPool fused = {.input = op->input, .filter = op->filter};
    std::vector<std::size_t> members = {i};
    ValueId last = op->output;
    if (const auto bias = rewriter_.reader_of<AddBias>(last)) {
      fused.bias = rewriter_.get<AddBias>(*bias)->bias;
      last = rewriter_.get<AddBias>(*bias)->y;
      members.push_back(*bias);
    }
    const auto relu = rewriter_.reader_of<Relu>(last);
    if (!relu) return false;
    fused.activated = rewriter_.get<Relu>(*relu)->y;
    const auto pool = rewriter_.reader_of<AveragePool>(fused.activated);
    if (!pool) return false;
    fused.output = rewriter_.get<AveragePool>(*pool)->output;
    fused.window = rewriter_.get<AveragePool>(*pool)->window;
    if (!can_fuse_pooling(problem(fused.input, fused.filter, fused.window))) return false;
    members.push_back(*relu);
    members.push_back(*pool);
    if (!is_read(rewriter_.program(), fused.activated, members)) fused.activated = {};
    return rewriter_.fuse(members, fused).has_value();
  }

  bool pool_backward(std::size_t i) {
    const auto* const pool = rewriter_.get<AveragePoolBackward>(i);
    const auto relu =
        pool != nullptr ? rewriter_.reader_of<ReluBackward>(pool->dinput) : std::nullopt;
    if (!relu) return false;
    PoolReluBackward fused = {.activated = rewriter_.get<ReluBackward>(*relu)->y,
                              .doutput = pool->doutput,
                              .dsum = rewriter_.get<ReluBackward>(*relu)->dx,
                              .window = pool->window};
    // The kernel takes what its counterpart takes.
    const auto forward = rewriter_.writer_of(fused.activated);
    if (!forward || rewriter_.get<ConvolutionReluPool>(*forward) == nullptr) return false;
    std::vector<std::size_t> members = {i, *relu};
    if (const auto sums = rewriter_.reader_of<ColumnSums>(fused.dsum)) {
      fused.dbias = rewriter_.get<ColumnSums>(*sums)->y;
      members.push_back(*sums);
    }
    return rewriter_.fuse(members, fused).has_value();
  }

  /// What is left of the updates, and what the workers exchange: for all parameters at once.
  void exchange() {
    UpdateBySum update;
    AverageWeights average;
    std::vector<std::size_t> updates;
    std::vector<std::size_t> averages;
    for (std::size_t i = 0; i < rewriter_.size(); ++i) {
      if (const auto* const mean = rewriter_.get<Mean>(i)) {
        for (const Reads<Real>& term : mean->terms) average.workers.emplace_back(term);
        average.means.emplace_back(mean->mean);
        averages.push_back(i);
      } else if (rewriter_.get<Copy>(i) != nullptr) {
        average.is_taken_over = true;
        averages.push_back(i);
      }
      const auto* const sgd = rewriter_.get<SgdUpdate>(i);
      if (sgd == nullptr || value(sgd->parameter).part.count > 1) continue;
      const auto summed = rewriter_.writer_of(sgd->gradient);
      const Sum* const sum = summed ? rewriter_.get<Sum>(*summed) : nullptr;
      const std::vector<Reads<Real>> terms =
          sum != nullptr ? sum->terms : std::vector{sgd->gradient};
      if (!update.parameters.empty() &&
          terms.size() != update.gradients.size() / update.parameters.size()) {
        continue;
      }
      if (sum != nullptr) updates.push_back(*summed);
      updates.push_back(i);
      update.gradients.insert(update.gradients.end(), terms.begin(), terms.end());
      update.parameters.push_back(sgd->parameter);
      update.learning_rate = sgd->learning_rate;
      update.l2 = std::max(update.l2, sgd->l2);
    }
    if (!average.means.empty()) rewriter_.fuse(averages, average);
    if (!updates.empty()) rewriter_.fuse(updates, update);
  }

  //! [gather]
  /// Lets all that read the batch pick its rows, if all of them can.
  bool gather(std::size_t i) {
    const auto* const found = rewriter_.get<Gather>(i);
    if (found == nullptr) return false;
    const Gather op = *found;
    const std::vector<std::size_t> readers = rewriter_.readers_of(op.batch);
    const std::vector<std::size_t> of_labels = rewriter_.readers_of(op.batch_labels);
    const bool can_pick = !readers.empty() &&
                          std::all_of(readers.begin(), readers.end(),
                                      [&](std::size_t line) {
                                        return rewriter_.get<Linear>(line) != nullptr ||
                                               rewriter_.get<LinearGradients>(line) != nullptr;
                                      }) &&
                          std::all_of(of_labels.begin(), of_labels.end(), [&](std::size_t line) {
                            return rewriter_.get<Loss>(line) != nullptr ||
                                   rewriter_.get<OutputLayer>(line) != nullptr;
                          });
    if (!can_pick) return false;
    const auto pick = [&](std::size_t line, auto changed, auto member, ValueId from) {
      changed.*member = from;
      changed.order = op.order;
      rewriter_.replace(line, changed, {op});
    };
    for (const std::size_t line : readers) {
      if (const auto* const layer = rewriter_.get<Linear>(line)) {
        pick(line, *layer, &Linear::input, op.features);
      } else {
        pick(line, *rewriter_.get<LinearGradients>(line), &LinearGradients::input, op.features);
      }
    }
    for (const std::size_t line : of_labels) {
      if (const auto* const last = rewriter_.get<Loss>(line)) {
        pick(line, *last, &Loss::labels, op.labels);
      } else {
        pick(line, *rewriter_.get<OutputLayer>(line), &OutputLayer::labels, op.labels);
      }
    }
    rewriter_.remove(i);
    return true;
  }
  //! [gather]

 private:
  /// What stands behind the outputs of a network in training.
  struct Ending {
    std::vector<std::size_t> members;
    ValueId labels;
    ValueId doutputs;  ///< before the outputs' activation
    ValueId totals;
    Part part;
    LossAttributes attributes;
  };

  const Value& value(ValueId id) const { return rewriter_.program()[id]; }

  Index rows_of(ValueId id) const {
    return shard_of(max_rows_, value(id).part.count, value(id).part.index).rows;
  }

  /// Whether the fused products can count a layer's sizes.
  bool fits(ValueId batched, ValueId weight) const {
    const Shape& shape = value(weight).shape;
    return rows_of(batched) > 0 && shape.elements() > 0 &&
           fits_linear(rows_of(batched), shape[0], shape[1]);
  }

  ConvolutionReluPoolProblem<T> problem(ValueId input, ValueId filter, Index window) const {
    const Shape& image = value(input).shape;
    const Shape& f = value(filter).shape;
    return {.convolution = {.batch = rows_of(input),
                            .height = image[0],
                            .width = image[1],
                            .in = image[2],
                            .filter_height = f[0],
                            .filter_width = f[1],
                            .out = f[3]},
            .window = window};
  }

  void take_activation(Linear& fused, std::vector<std::size_t>& members) const {
    if (const auto relu = rewriter_.reader_of<Relu>(fused.output)) {
      fused.activation = Activation::relu;
      fused.output = rewriter_.get<Relu>(*relu)->y;
      members.push_back(*relu);
    } else if (const auto sigmoid = rewriter_.reader_of<Sigmoid>(fused.output)) {
      fused.activation = Activation::sigmoid;
      fused.output = rewriter_.get<Sigmoid>(*sigmoid)->y;
      members.push_back(*sigmoid);
    }
  }

  /// What made a value, if that is an activation.
  Activation activation_of(ValueId outputs) const {
    const auto writer = rewriter_.writer_of(outputs);
    if (!writer) return Activation::none;
    if (const auto* const layer = rewriter_.get<Linear>(*writer)) return layer->activation;
    if (rewriter_.get<Sigmoid>(*writer) != nullptr) return Activation::sigmoid;
    return rewriter_.get<Relu>(*writer) != nullptr ? Activation::relu : Activation::none;
  }

  /// Finds the loss, the prediction and the totals behind the outputs, and the way back through the
  /// loss and their activation.
  bool find_ending(ValueId outputs, Activation activation, Ending& ending) const {
    ValueId row_losses;
    ValueId classes;
    for (const std::size_t line : rewriter_.readers_of(outputs)) {
      bool belongs = true;
      if (const auto* const entropy = rewriter_.get<SoftmaxCrossEntropy>(line)) {
        ending.labels = entropy->labels;
        row_losses = entropy->row_losses;
        const auto back = rewriter_.reader_of<SoftmaxCrossEntropyBackward>(entropy->probabilities);
        if (!back) return false;
        ending.doutputs = rewriter_.get<SoftmaxCrossEntropyBackward>(*back)->dlogits;
        ending.members.push_back(*back);
      } else if (const auto* const squares = rewriter_.get<SquaredError>(line)) {
        ending.attributes.loss = LossKind::squared_error;
        ending.labels = squares->labels;
        row_losses = squares->row_losses;
      } else if (const auto* const gradient = rewriter_.get<SquaredErrorBackward>(line)) {
        ending.doutputs = gradient->doutputs;
      } else if (const auto* const largest = rewriter_.get<ArgMax>(line)) {
        classes = largest->classes;
      } else if (const auto* const threshold = rewriter_.get<Threshold>(line)) {
        classes = threshold->classes;
        ending.attributes.threshold = threshold->threshold;
      } else {
        belongs = false;
      }
      if (belongs) ending.members.push_back(line);
    }
    if (!row_losses || !classes || !ending.doutputs) return false;
    const auto totals = rewriter_.reader_of<Accumulate>(row_losses);
    if (!totals) return false;
    ending.totals = rewriter_.get<Accumulate>(*totals)->totals;
    ending.part = value(outputs).part;
    ending.members.push_back(*totals);
    if (const auto sigmoid = rewriter_.reader_of<SigmoidBackward>(ending.doutputs)) {
      ending.doutputs = rewriter_.get<SigmoidBackward>(*sigmoid)->dx;
      ending.members.push_back(*sigmoid);
    } else if (const auto relu = rewriter_.reader_of<ReluBackward>(ending.doutputs)) {
      ending.doutputs = rewriter_.get<ReluBackward>(*relu)->dx;
      ending.members.push_back(*relu);
    } else if (activation != Activation::none) {
      return false;
    }
    ending.attributes.activation = activation;
    return true;
  }

  ValueId add_scores(const Ending& ending) {
    return rewriter_.add({.name = "scores" + suffix_of(ending.totals),
                          .shape = {max_scores()},
                          .type = Type::scores,
                          .part = ending.part});
  }

  /// What a worker's values have behind their names.
  std::string suffix_of(ValueId totals) const {
    return value(totals).name.substr(std::string("totals").size());
  }

  /// Replaces the ending, of which the totals become a line of their own.
  bool replace_ending(const std::vector<std::size_t>& members, const Operation& fused,
                      ValueId scores, ValueId totals) {
    const auto line = rewriter_.fuse(members, fused);
    if (!line) return false;
    rewriter_.template split_off<Accumulate>(*line, AddScores{.scores = scores, .totals = totals});
    return true;
  }

  Rewriter rewriter_;
  Index max_rows_;
};

}  // namespace

//! [fuse]
template <typename T>
Program fuse(const Program& program, Index max_rows, const FuseOptions& options) {
  Fuser<T> fuser(program, max_rows);
  if (options.layers) {
    fuser.everywhere(&Fuser<T>::linear);
    fuser.everywhere(&Fuser<T>::input_gradient);
    fuser.everywhere(&Fuser<T>::gradients);
    fuser.everywhere(&Fuser<T>::convolution);
    fuser.everywhere(&Fuser<T>::pool_backward);
    fuser.everywhere(&Fuser<T>::output_layer);
  }
  fuser.everywhere(&Fuser<T>::loss);
  fuser.exchange();
  if (options.layers && options.gathers) fuser.everywhere(&Fuser<T>::gather);
  return fuser.finish();
}
//! [fuse]

Program without_gather(const Program& program, ValueId batch, ValueId batch_labels) {
  Program result = program;
  result.lines.clear();
  for (const Line& line : program.lines) {
    const Gather* const gather = std::get_if<Gather>(&line.operation);
    if (gather == nullptr) {
      result.lines.push_back(line);
      continue;
    }
    if (gather->batch != batch) {
      result[gather->batch].memory_of = batch;
      result[gather->batch_labels].memory_of = batch_labels;
    }
  }
  return result;
}

template Program fuse<float>(const Program&, Index, const FuseOptions&);
template Program fuse<double>(const Program&, Index, const FuseOptions&);

}  // namespace stagewise::minibatch
