#include "ladders/persistent/training/plan.hpp"

#include <algorithm>

#include "cuda/device.hpp"

namespace stagewise::minibatch::persistent {
namespace {

constexpr Index pieces(Index n, Index size) { return (n + size - 1) / size; }

constexpr Index padded(Index n, Index to) { return pieces(n, to) * to; }

template <typename T>
constexpr Index length = 16 / sizeof(T);

/// Rows of an odd number of vectors: neighbouring rows then begin in different banks.
template <typename T>
Index odd_stride(Index elements) {
  return (pieces(elements, length<T>) | 1) * length<T>;
}

template <typename T>
SharedLayout shared_layout(const Plan& plan, const Sizes& n) {
  Index end = 0;
  const auto place = [&](Index elements) {
    const Index begin = end;
    end += padded(elements, length<T>);
    return static_cast<int>(begin);
  };
  constexpr Index per_double = length<T> / length<double>;
  SharedLayout layout;
  layout.input = place(2 * n.padded_rows * n.k_stride);
  layout.weight = place(n.units * n.k_stride);
  layout.partials = place(std::max({plan.forward_parts * n.padded_rows * n.units,
                                    plan.backward_parts * n.units * n.k_stride, plan.input_slices * n.own_sums}));
  layout.exchange = place(std::max<Index>({Index{n.padded_rows} * n.units, Index{plan.unit_slices} * n.own_rows * n.out,
                                           Index{plan.input_slices} * n.gradients,
                                           3 * per_double * std::max(n.own_rows, plan.input_slices)}));
  layout.hidden = place(n.own_sums);
  layout.dhidden = place(n.own_sums);
  layout.outputs = place(padded(n.own_rows, 2) * n.out);
  layout.doutputs = place(padded(n.own_rows, 2) * n.out);
  layout.out_weight = place(n.out * n.unit_stride);
  layout.bias = place(n.units);
  layout.out_bias = place(n.out);
  layout.labels = place(2 * n.own_rows);
  layout.samples = place(2 * n.rows);
  layout.size = static_cast<int>(end);
  return layout;
}

template <typename T>
MailboxLayout mailbox_layout(const Plan& plan, const Sizes& n) {
  Index end = 0;
  const auto place = [&](Index elements) {
    const Index begin = end;
    end += padded(elements * words_of<T>, 2);
    return begin;
  };
  MailboxLayout layout;
  place(Index{plan.blocks()} * plan.input_slices * n.own_sums);
  layout.logits = place(Index{plan.input_slices} * n.logits_box);
  layout.dhidden = place(Index{plan.unit_slices} * n.rows * n.units);
  layout.gradients = place(Index{plan.unit_slices} * n.gradients_box);
  layout.parity_words = end;
  layout.scores = 2 * end;
  layout.size = layout.scores + Index{3} * plan.input_slices * words_of<double>;
  return layout;
}

}  // namespace

template <typename T>
Sizes sizes_of(const MlpShape& shape, const Plan& plan) {
  const auto number = [](Index n) { return static_cast<int>(n); };
  const Index own_rows = pieces(shape.rows, plan.input_slices);
  const Index gradients = plan.units * (shape.out + 1) + shape.out;
  return {.in = number(shape.in),
          .hidden = number(shape.hidden),
          .out = number(shape.out),
          .rows = number(shape.rows),
          .padded_rows = number(padded(shape.rows, row_tile)),
          .own_rows = number(own_rows),
          .owners = number(pieces(shape.rows, own_rows)),
          .k_stride = number(odd_stride<T>(plan.k_vectors * length<T>)),
          .units = plan.units,
          .unit_stride = number(odd_stride<T>(plan.units)),
          .unit_groups = plan.units / plan.unit_tile,
          .own_sums = number(own_rows * plan.units),
          .gradients = number(gradients),
          .logits_box = number(padded(plan.unit_slices * own_rows * shape.out, 2)),
          .gradients_box = number(padded(plan.input_slices * gradients, 2))};
}

template <typename T>
std::optional<Plan> plan_slices(const MlpShape& shape, int input_slices, int unit_slices, int unit_tile,
                                std::size_t shared_bytes) {
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
  plan.backward_parts = static_cast<int>(std::min<Index>(block_threads / backward_tiles, shape.rows));
  const Sizes n = sizes_of<T>(shape, plan);
  if (n.own_rows > block_threads) return std::nullopt;
  // Before products of these are counted in ints.
  const double numbers =
      static_cast<double>(n.padded_rows) * n.k_stride + static_cast<double>(shape.out) * n.unit_stride;
  if (numbers * sizeof(T) > static_cast<double>(shared_bytes)) return std::nullopt;
  plan.shared = shared_layout<T>(plan, n);
  plan.mailbox = mailbox_layout<T>(plan, n);
  if (static_cast<std::size_t>(plan.shared.size) * sizeof(T) > shared_bytes) return std::nullopt;

  // The time of a step, fitted to six networks and batches on an H200.
  const double fma = static_cast<double>(length<T>) * (sizeof(T) == 8 ? 2 : 1);
  const double forward = static_cast<double>(pieces(plan.k_vectors, plan.forward_parts)) * fma * row_tile * unit_tile *
                         static_cast<double>(pieces(forward_tiles * plan.forward_parts, 128));
  const double backward = static_cast<double>(pieces(shape.rows, plan.backward_parts)) * fma * unit_tile *
                          static_cast<double>(pieces(backward_tiles * plan.backward_parts, 128));
  const double words =
      static_cast<double>((Index{2} * plan.input_slices * n.own_sums + Index{plan.unit_slices} * n.own_rows * n.out +
                           Index{plan.input_slices} * n.gradients) *
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

bool is_faster(const Plan& plan, const MlpShape& shape) {
  // Of a recorded step: what its launches take, and its products at a rate that small ones reach.
  constexpr double launches = 19'400;
  constexpr double per_cycle = 66;  // multiplications of a multiprocessor
  const double multiplications = 3.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.hidden) *
                                 static_cast<double>(shape.in + shape.out);
  return plan.cycles < launches + multiplications / (per_cycle * cuda::multiprocessors());
}

template Sizes sizes_of<float>(const MlpShape&, const Plan&);
template Sizes sizes_of<double>(const MlpShape&, const Plan&);
template std::optional<Plan> plan_slices<float>(const MlpShape&, int, int, int, std::size_t);
template std::optional<Plan> plan_slices<double>(const MlpShape&, int, int, int, std::size_t);
template std::optional<Plan> plan_blocks<float>(const MlpShape&);
template std::optional<Plan> plan_blocks<double>(const MlpShape&);

}  // namespace stagewise::minibatch::persistent
