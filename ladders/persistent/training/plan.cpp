#include "ladders/persistent/training/plan.hpp"

#include <algorithm>

#include "cuda/device.hpp"

namespace stagewise::minibatch::persistent {
namespace {

constexpr Index pieces(Index n, Index size) {
  return (n + size - 1) / size;
}

constexpr Index padded(Index n, Index to) {
  return pieces(n, to) * to;
}

/// The sizes of one block, the largest of all.
struct Block {
  Index rows = 0;      ///< padded to whole tiles
  Index own_rows = 0;  ///< for which it goes all the way to the loss
  Index k_stride = 0;
  Index units = 0;
  Index unit_stride = 0;
  Index gradients = 0;  ///< of the last layer's weights, and of both biases
};

constexpr int row_tile = 4;

template <typename T>
constexpr Index length = 16 / sizeof(T);

/// Rows of an odd number of vectors: neighbouring rows then begin in different banks.
template <typename T>
Index odd_stride(Index elements) {
  return (pieces(elements, length<T>) | 1) * length<T>;
}

template <typename T>
Block block_of(const MlpShape& shape, const Plan& plan) {
  return {.rows = padded(shape.rows, row_tile),
          .own_rows = pieces(shape.rows, plan.input_slices),
          .k_stride = odd_stride<T>(plan.k_vectors * length<T>),
          .units = plan.units,
          .unit_stride = odd_stride<T>(plan.units),
          .gradients = plan.units * (shape.out + 1) + shape.out};
}

template <typename T>
SharedLayout shared_layout(const MlpShape& shape, const Plan& plan, const Block& block) {
  Index end = 0;
  const auto place = [&](Index elements) {
    const Index begin = end;
    end += padded(elements, length<T>);
    return static_cast<int>(begin);
  };
  const auto bytes = static_cast<Index>(sizeof(T));
  const Index per_double = static_cast<Index>(sizeof(double)) / bytes;
  SharedLayout layout;
  layout.input = place(2 * block.rows * block.k_stride);
  layout.weight = place(block.units * block.k_stride);
  layout.partials = place(std::max({plan.forward_parts * block.rows * block.units,
                                    plan.backward_parts * block.units * block.k_stride,
                                    plan.input_slices * block.own_rows * block.units}));
  layout.exchange =
      place(std::max({block.rows * block.units, plan.unit_slices * block.own_rows * shape.out,
                      plan.input_slices * block.gradients,
                      3 * per_double * std::max<Index>(block.own_rows, plan.input_slices)}));
  layout.hidden = place(block.own_rows * block.units);
  layout.dhidden = place(block.own_rows * block.units);
  layout.outputs = place(padded(block.own_rows, 2) * shape.out);
  layout.doutputs = place(padded(block.own_rows, 2) * shape.out);
  layout.out_weight = place(shape.out * block.unit_stride);
  layout.bias = place(block.units);
  layout.out_bias = place(shape.out);
  layout.labels = place(2 * block.own_rows);
  layout.samples = place(2 * shape.rows);
  layout.size = static_cast<int>(end);
  return layout;
}

template <typename T>
MailboxLayout mailbox_layout(const MlpShape& shape, const Plan& plan, const Block& block) {
  Index end = 0;
  const auto place = [&](Index elements) {
    const Index begin = end;
    end += padded(elements * words_of<T>, 2);
    return begin;
  };
  MailboxLayout layout;
  place(Index{plan.blocks()} * plan.input_slices * block.own_rows * block.units);
  layout.logits =
      place(plan.input_slices * padded(plan.unit_slices * block.own_rows * shape.out, 2));
  layout.dhidden = place(plan.unit_slices * shape.rows * block.units);
  layout.gradients = place(plan.unit_slices * padded(plan.input_slices * block.gradients, 2));
  layout.parity_words = end;
  layout.scores = 2 * end;
  layout.size = layout.scores + Index{3} * plan.input_slices * words_of<double>;
  return layout;
}

}  // namespace

template <typename T>
std::optional<Plan> plan_slices(const MlpShape& shape, int input_slices, int unit_slices,
                                int unit_tile, std::size_t shared_bytes) {
  if (unit_tile > max_unit_tile<T>) return std::nullopt;
  const Index vectors = pieces(shape.in, length<T>);
  Plan plan = {.input_slices = input_slices,
               .unit_slices = unit_slices,
               .unit_tile = unit_tile,
               .k_vectors = static_cast<int>(pieces(vectors, input_slices)),
               .units = static_cast<int>(padded(pieces(shape.hidden, unit_slices), unit_tile))};
  const Index unit_groups = plan.units / unit_tile;
  const Index forward_tiles = pieces(shape.rows, row_tile) * unit_groups;
  const Index backward_tiles = plan.k_vectors * unit_groups;
  if (vectors < input_slices || shape.hidden < unit_slices) return std::nullopt;
  if (forward_tiles > block_threads || backward_tiles > block_threads) return std::nullopt;
  // As many as have something to do: 25 vectors in 10 parts are 3 each, and 1 part gets none.
  const Index most_parts = std::min<Index>(block_threads / forward_tiles, plan.k_vectors);
  plan.forward_parts = static_cast<int>(pieces(plan.k_vectors, pieces(plan.k_vectors, most_parts)));
  plan.backward_parts =
      static_cast<int>(std::min<Index>(block_threads / backward_tiles, shape.rows));
  const Block block = block_of<T>(shape, plan);
  if (block.own_rows > block_threads) return std::nullopt;
  // Before anything is counted in ints.
  const double numbers = static_cast<double>(block.rows) * static_cast<double>(block.k_stride);
  if (numbers * sizeof(T) > static_cast<double>(shared_bytes)) return std::nullopt;
  plan.shared = shared_layout<T>(shape, plan, block);
  plan.mailbox = mailbox_layout<T>(shape, plan, block);
  if (static_cast<std::size_t>(plan.shared.size) * sizeof(T) > shared_bytes) return std::nullopt;

  // The time of a step, fitted to six networks and batches on an H200.
  const double fma = static_cast<double>(length<T>) * (sizeof(T) == 8 ? 2 : 1);
  const double forward = static_cast<double>(pieces(plan.k_vectors, plan.forward_parts)) * fma *
                         row_tile * unit_tile *
                         static_cast<double>(pieces(forward_tiles * plan.forward_parts, 128));
  const double backward = static_cast<double>(pieces(shape.rows, plan.backward_parts)) * fma *
                          unit_tile *
                          static_cast<double>(pieces(backward_tiles * plan.backward_parts, 128));
  const double words =
      static_cast<double>((Index{2} * plan.input_slices * block.own_rows * block.units +
                           plan.unit_slices * block.own_rows * shape.out +
                           plan.input_slices * block.gradients) *
                          words_of<T>) /
      2;
  plan.cycles = 2.0 * (forward + backward) + 1.2 * words + 14'600;
  return plan;
}

template <typename T>
std::optional<Plan> plan_blocks(const MlpShape& shape) {
  constexpr std::size_t reserved = 64;  // what the kernel has of its own
  const auto bytes = static_cast<std::size_t>(cuda::shared_memory_per_block()) - reserved;
  const int most = cuda::multiprocessors();
  std::optional<Plan> best;
  for (int unit_slices = 1; unit_slices <= std::min<Index>(most, shape.hidden); ++unit_slices) {
    for (int input_slices = 1; input_slices * unit_slices <= most; ++input_slices) {
      for (const int unit_tile : {4, 8}) {
        const auto plan = plan_slices<T>(shape, input_slices, unit_slices, unit_tile, bytes);
        if (plan && (!best || plan->cycles < best->cycles)) best = plan;
      }
    }
  }
  return best;
}

template <typename T>
bool is_faster(const Plan& plan, const MlpShape& shape) {
  // Of a recorded step: what its launches take, and its products at a rate that small ones reach.
  constexpr double launches = 19'400;
  constexpr double per_cycle = 66;  // multiplications of a multiprocessor
  const double multiplications = 3.0 * static_cast<double>(shape.rows) *
                                 static_cast<double>(shape.hidden) *
                                 static_cast<double>(shape.in + shape.out);
  return plan.cycles < launches + multiplications / (per_cycle * cuda::multiprocessors());
}

template bool is_faster<float>(const Plan&, const MlpShape&);
template bool is_faster<double>(const Plan&, const MlpShape&);
template std::optional<Plan> plan_slices<float>(const MlpShape&, int, int, int, std::size_t);
template std::optional<Plan> plan_slices<double>(const MlpShape&, int, int, int, std::size_t);
template std::optional<Plan> plan_blocks<float>(const MlpShape&);
template std::optional<Plan> plan_blocks<double>(const MlpShape&);

}  // namespace stagewise::minibatch::persistent
