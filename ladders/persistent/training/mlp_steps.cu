/// @file
/// Many training steps of a small multilayer perceptron by one kernel, which keeps the weights.

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "ladders/persistent/training/batch_fetch.cuh"
#include "ladders/persistent/training/output_layer.cuh"
#include "ladders/persistent/training/products.cuh"

namespace stagewise::minibatch::persistent {
namespace {

// ------------------------------------------------------------------------------------- parameters

/// Fetches the block's slices of the parameters; all that is padding becomes zero.
template <int unit_tile, typename T>
__device__ void load_parameters(const Slice<T>& s) {
  const Mlp<T>& mlp = s.p.mlp;
  const Sizes& n = s.sizes;
  for_each(n.units * n.k_stride, [&](int i) {
    const int unit = i % n.units;
    const int k = i / n.units;
    const Index from = static_cast<Index>(s.first_input + k) * n.hidden + s.first_unit + unit;
    const bool exists = unit < s.unit_count && k < s.input_count;
    s.weight()[row_of_unit<unit_tile>(unit, n.unit_groups) * n.k_stride + k] = exists ? mlp.weight[from] : T{0};
  });
  for_each(n.out * n.units, [&](int i) {
    const int unit = i % n.units;
    const int j = i / n.units;
    s.out_weight()[j * n.unit_stride + unit] =
        unit < s.unit_count ? mlp.out_weight[(s.first_unit + unit) * n.out + j] : T{0};
  });
  for_each(n.units, [&](int unit) {
    const bool exists = mlp.bias != nullptr && unit < s.unit_count;
    s.bias()[unit] = exists ? mlp.bias[s.first_unit + unit] : T{0};
  });
  for_each(n.out, [&](int j) { s.out_bias()[j] = mlp.out_bias != nullptr ? mlp.out_bias[j] : T{0}; });
  for_each(2 * n.padded_rows * n.k_stride, [&](int i) { s.input(0)[i] = 0; });
  for_each(s.p.plan.backward_parts * n.units * n.k_stride, [&](int i) { s.partials()[i] = 0; });
}

/// Stores the block's slice of the hidden weights; of what several blocks have, one stores it.
template <int unit_tile, typename T>
__device__ void store_parameters(const Slice<T>& s) {
  const Mlp<T>& mlp = s.p.mlp;
  const Sizes& n = s.sizes;
  for_each(n.units * s.input_count, [&](int i) {
    const int unit = i % n.units;
    const int k = i / n.units;
    if (unit >= s.unit_count) return;
    mlp.weight[static_cast<Index>(s.first_input + k) * n.hidden + s.first_unit + unit] =
        s.weight()[row_of_unit<unit_tile>(unit, n.unit_groups) * n.k_stride + k];
  });
  if (s.inputs != 0) return;
  for_each(n.out * s.unit_count, [&](int i) {
    const int unit = i / n.out;
    const int j = i % n.out;
    mlp.out_weight[(s.first_unit + unit) * n.out + j] = s.out_weight()[j * n.unit_stride + unit];
  });
  if (mlp.bias != nullptr) {
    for_each(s.unit_count, [&](int unit) { mlp.bias[s.first_unit + unit] = s.bias()[unit]; });
  }
  if (mlp.out_bias != nullptr && s.units == 0) {
    for_each(n.out, [&](int j) { mlp.out_bias[j] = s.out_bias()[j]; });
  }
}

// ---------------------------------------------------------------------------------- hidden values

/// Adds up what the threads have of the products, and sends each owner of rows its part.
template <typename T>
__device__ void send_sums(const Slice<T>& s, const Inboxes& boxes) {
  constexpr int per_pair = values_per_pair<T>;
  using Values = shared_memory::Vector<T, per_pair>;
  const int part = s.sizes.padded_rows * s.sizes.units;
  const int own = s.sizes.own_sums;
  for_each(s.sizes.owners * own / per_pair, [&](int pair) {
    const int i = pair * per_pair;
    Values sum = {};
    if (i < s.sizes.rows * s.sizes.units) {
      sum = *reinterpret_cast<const Values*>(s.partials() + i);
#pragma unroll 4
      for (int k = 1; k < s.p.plan.forward_parts; ++k) {
        const Values next = *reinterpret_cast<const Values*>(s.partials() + k * part + i);
#pragma unroll
        for (int e = 0; e < per_pair; ++e) sum.values[e] += next.values[e];
      }
    }
    const auto to = s.p.by_own_sums.divide(i);
    const int box = (s.units * s.p.plan.input_slices + to.quotient) * s.p.plan.input_slices + s.inputs;
    store_words(boxes.sums + (static_cast<Index>(box) * own + to.remainder) * words_of<T>,
                make_words(boxes.flag, sum.values));
  });
}

/// Receives the sums of own rows from all slices of inputs; behind the next barrier they are there.
template <typename T>
__device__ void receive_sums(const Slice<T>& s, const Inboxes& boxes) {
  if (s.own_rows == 0) return;
  const int own = s.sizes.own_sums;
  const int box = (s.units * s.p.plan.input_slices + s.inputs) * s.p.plan.input_slices;
  Word* const from = boxes.sums + static_cast<Index>(box) * own * words_of<T>;
  receive<4>(s.p.plan.input_slices * own, boxes.flag, s.partials(), [&](int i) { return from + i * words_of<T>; });
}

/// hidden = activation(the sums, in the order of the slices, + bias).
template <typename T>
__device__ void find_hidden(const Slice<T>& s) {
  const int own = s.sizes.own_sums;
  for_each(s.own_rows * s.sizes.units, [&](int i) {
    T sum = s.partials()[i];
#pragma unroll 4
    for (int slice = 1; slice < s.p.plan.input_slices; ++slice) sum += s.partials()[slice * own + i];
    s.hidden()[i] = activate(s.p.mlp.activation, sum + s.bias()[s.p.by_units.divide(i).remainder]);
  });
}

// ----------------------------------------------------------------------------------------- totals

/// Adds up the scores of all rows, in a fixed order: block 0 gets them.
template <typename T>
__device__ void add_to_totals(const Slice<T>& s, const Score& score, std::uint32_t flag) {
  if (s.units != 0 || s.own_rows == 0) return;
  auto* const numbers = reinterpret_cast<double*>(s.exchange());
  const auto thread = static_cast<int>(threadIdx.x);
  const int lanes = lanes_a_row(s.sizes.out);
  const int scorers = min(s.own_rows, static_cast<int>(blockDim.x) / lanes);
  const auto add_up = [&](int count, const auto& use) {
    Score all;
    for (int i = 0; i < count; ++i) {
      all.loss += numbers[3 * i];
      all.correct += static_cast<std::int64_t>(numbers[3 * i + 1]);
      const auto bad = static_cast<std::int64_t>(numbers[3 * i + 2]);
      const bool is_earlier = bad >= 0 && (all.first_bad_step < 0 || bad < all.first_bad_step);
      if (is_earlier) all.first_bad_step = bad;
    }
    use(all);
  };
  __syncthreads();
  if (const int scorer = thread / lanes; thread % lanes == 0 && scorer < scorers) {
    numbers[3 * scorer] = score.loss;
    numbers[3 * scorer + 1] = static_cast<double>(score.correct);
    numbers[3 * scorer + 2] = static_cast<double>(score.first_bad_step);
  }
  __syncthreads();
  Word* const box = s.p.mailbox + s.p.plan.mailbox.scores;
  if (thread == 0) {
    add_up(scorers, [&](const Score& all) {
      send(box, 3 * s.inputs, flag, all.loss);
      send(box, 3 * s.inputs + 1, flag, static_cast<double>(all.correct));
      send(box, 3 * s.inputs + 2, flag, static_cast<double>(all.first_bad_step));
    });
  }
  if (s.inputs != 0) return;
  __syncthreads();
  receive<1>(3 * s.sizes.owners, flag, numbers, [&](int i) { return box + 2 * i; });
  __syncthreads();
  if (thread != 0) return;
  add_up(s.sizes.owners, [&](const Score& all) {
    Totals& totals = *s.p.mlp.totals;
    totals.loss += all.loss;
    totals.correct += all.correct;
    if (totals.first_bad_step < 0) totals.first_bad_step = all.first_bad_step;
  });
}

// ----------------------------------------------------------------------------------------- kernel

//! [kernel]
template <int unit_tile, typename T>
__global__ void __launch_bounds__(block_threads, 1) persistent_kernel(const __grid_constant__ Arguments<T> p) {
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ shared_memory::Mbarrier barrier;
  const Mlp<T>& mlp = p.mlp;
  const Slice<T> s(p, reinterpret_cast<T*>(bytes));
  const int forward_parts = p.plan.forward_parts;
  const int backward_parts = p.plan.backward_parts;
  const TilePart forward(s.sizes.padded_rows / row_tile, s.sizes.unit_groups, forward_parts);
  const TilePart backward(p.plan.k_vectors, s.sizes.unit_groups, backward_parts);
  load_parameters<unit_tile>(s);
  BatchFetch<T> fetch(s, &barrier, forward.busy_threads);
  __syncthreads();
  fetch.start(0);
  fetch.finish(0);
  __syncthreads();

  Score score;
  for (Index step = 0; step < mlp.steps; ++step) {
    const Inboxes boxes(s, step);
    const T* const input = s.input(step);
    if (step + 1 < mlp.steps) fetch.start(step + 1);
    multiply_forward<unit_tile>(s, forward, forward_parts, input);
    __syncthreads();
    send_sums(s, boxes);
    if (step > 0) receive_gradients(s, Inboxes(s, step - 1));
    __syncthreads();
    if (step > 0) update_output_layer(s);
    receive_sums(s, boxes);
    __syncthreads();
    find_hidden(s);
    __syncthreads();

    const std::int32_t* const labels = s.labels(step);
    send_logits(s, boxes);
    find_output_gradients(s, boxes, labels, mlp.first_step + step, score);
    send_dhidden(s, boxes);
    send_gradients(s, boxes);
    receive_dhidden(s, boxes);
    __syncthreads();

    multiply_backward<unit_tile>(s, backward, backward_parts, input, s.exchange());
    __syncthreads();
    update_weights(s, backward_parts, mlp.learning_rate, mlp.l2);
    if (step + 1 < mlp.steps) fetch.finish(step + 1);
    if (mlp.progress != nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
      *mlp.progress = mlp.first_step + step;
    }
    __syncthreads();
  }
  const Inboxes boxes(s, mlp.steps - 1);
  receive_gradients(s, boxes);
  __syncthreads();
  update_output_layer(s);
  __syncthreads();
  store_parameters<unit_tile>(s);
  add_to_totals(s, score, boxes.flag);
}
//! [kernel]

template <typename T>
using Kernel = void (*)(Arguments<T>);

template <typename T>
Kernel<T> kernel_of(const Plan& plan) {
  if constexpr (max_unit_tile<T> == 8) {
    if (plan.unit_tile == 8) return persistent_kernel<8, T>;
  }
  return persistent_kernel<4, T>;
}

template <typename T>
std::size_t shared_bytes(const Plan& plan) {
  return static_cast<std::size_t>(plan.shared.size) * sizeof(T);
}

}  // namespace

template <typename T>
Trainer<T>::Trainer(const Plan& plan) : plan_(plan), mailbox_({plan.mailbox.size}, cuda::device_memory()) {
  CUDA_CHECK(cudaMemset(mailbox_.data(), 0, static_cast<std::size_t>(mailbox_.elements()) * sizeof(Word)));
  CUDA_CHECK(cudaFuncSetAttribute(kernel_of<T>(plan), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes<T>(plan))));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
}

template <typename T>
void Trainer<T>::train(cudaStream_t stream, const Mlp<T>& mlp) {
  if (mlp.steps == 0 || mlp.shape.rows == 0) return;
  const Sizes sizes = sizes_of<T>(mlp.shape, plan_);
  Arguments<T> arguments = {.mlp = mlp,
                            .plan = plan_,
                            .sizes = sizes,
                            .mailbox = mailbox_.data(),
                            .first_flag = next_flag_,
                            .by_units = cuda::FastDivmod(sizes.units),
                            .by_out = cuda::FastDivmod(sizes.out),
                            .by_own_sums = cuda::FastDivmod(sizes.own_sums)};
  void* pointers[] = {&arguments};
  CUDA_CHECK(cudaLaunchCooperativeKernel(kernel_of<T>(plan_), dim3(static_cast<unsigned>(plan_.blocks())),
                                         dim3(block_threads), pointers, shared_bytes<T>(plan_), stream));
  // After 2^32 steps numbers come again, when all words have others.
  next_flag_ += static_cast<std::uint32_t>(mlp.steps);
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace stagewise::minibatch::persistent
