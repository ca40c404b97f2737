#include "04_minibatch/fuse/fuse.hpp"

#include <algorithm>

#include "04_minibatch/fuse/patterns.hpp"
#include "04_minibatch/linear/linear.hpp"
#include "network/shard.hpp"

namespace stagewise::minibatch {
namespace {

/// Applies a pattern until it fits nowhere.
void everywhere(Fusion& fusion, bool (*pattern)(Fusion&, std::size_t)) {
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < fusion.rewriter.size(); ++i) {
      if (pattern(fusion, i)) changes = true;
    }
  }
}

}  // namespace

Index Fusion::rows_of(ValueId batched) const {
  const Part& part = value(batched).part;
  return shard_of(max_rows, part.count, part.index).rows;
}

bool Fusion::fits(ValueId batched, ValueId weight) const {
  const Shape& shape = value(weight).shape;
  return rows_of(batched) > 0 && shape.elements() > 0 &&
         fits_linear(rows_of(batched), shape[0], shape[1]);
}

//! [fuse]
template <typename T>
Program fuse(const Program& program, Index max_rows, const FuseOptions& options) {
  const LastLayer last = options.layers ? options.last_layer : LastLayer::loss;
  Fusion fusion{.rewriter = Rewriter(program), .max_rows = max_rows, .last_layer = last};
  if (options.layers) {
    everywhere(fusion, fuse_linear);
    everywhere(fusion, fuse_linear_input_gradient);
    everywhere(fusion, fuse_linear_gradients);
    everywhere(fusion, fuse_convolution);
    everywhere(fusion, fuse_pool_backward);
  }
  if (last != LastLayer::loss) everywhere(fusion, fuse_output_layer<T>);
  if (last == LastLayer::shares) everywhere(fusion, fuse_summed_output_layer<T>);
  everywhere(fusion, fuse_loss);
  fuse_averages(fusion);
  fuse_updates(fusion);
  if (options.layers && options.gathers) everywhere(fusion, fuse_gather);
  if (last == LastLayer::shares) everywhere(fusion, fuse_shares);

  Program result = fusion.rewriter.finish();
  // The totals come last: nothing waits for them.
  std::stable_partition(result.lines.begin(), result.lines.end(), [](const Line& line) {
    return !std::holds_alternative<AddPartials>(line.operation);
  });
  return result;
}
//! [fuse]

Program without_gather(const Program& program, ValueId batch, ValueId batch_labels) {
  Program result = program;
  std::erase_if(result.lines, [&](const Line& line) {
    const Gather* const gather = std::get_if<Gather>(&line.operation);
    if (gather != nullptr && gather->batch != batch) {
      result[gather->batch].memory_of = batch;
      result[gather->batch_labels].memory_of = batch_labels;
    }
    return gather != nullptr;
  });
  return result;
}

template Program fuse<float>(const Program&, Index, const FuseOptions&);
template Program fuse<double>(const Program&, Index, const FuseOptions&);

}  // namespace stagewise::minibatch
