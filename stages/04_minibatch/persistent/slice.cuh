/// @file
/// What a block of the persistent kernel works on, and where it finds it.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "04_minibatch/persistent/mailbox.cuh"
#include "04_minibatch/persistent/mlp_steps.hpp"
#include "cuda/fast_divmod.cuh"

namespace stagewise::minibatch::persistent {

/// What all blocks get.
template <typename T>
struct Arguments {
  Mlp<T> mlp;
  Plan plan;
  Word* mailbox;
  std::uint32_t first_flag;
  cuda::FastDivmod by_units;  ///< numbers of a slice's units
  cuda::FastDivmod by_out;
  cuda::FastDivmod by_own_sums;  ///< numbers of the most rows that a block has, times units
};

//! [slice]
/// The block's slice of the inputs and of the hidden units, the rows for which it goes all the way
/// to the loss, and its shared memory.
template <typename T>
struct Slice {
  static constexpr int length = shared_memory::Vector<T>::length;

  int inputs;  ///< number of the slice
  int units_slice;
  int input_slices;
  int unit_slices;

  int first_input;
  int input_count;
  int first_unit;
  int unit_count;
  int units;  ///< with the padding
  int out;
  int rows;  ///< of a batch
  int max_own_rows;
  int first_row;
  int own_rows;
  int owners;  ///< slices of inputs whose blocks have rows

  int k_vectors;
  int k_stride;
  int unit_stride;
  int gradients;   ///< of the last layer's weights, then of the hidden biases, then of the others
  int logits_box;  ///< numbers in the inbox of a slice of inputs
  int gradients_box;  ///< numbers in the inbox of a slice of units

  T* input;
  T* weight;
  T* partials;
  T* exchange;
  T* hidden;
  T* dhidden;
  T* outputs;
  T* doutputs;
  T* out_weight;
  T* bias;
  T* out_bias;
  std::int32_t* labels;
  std::uint32_t* samples;

  static __device__ int even(int count) { return count + count % 2; }

  __device__ Slice(const Arguments<T>& p, T* shared) {
    const Plan& plan = p.plan;
    input_slices = plan.input_slices;
    unit_slices = plan.unit_slices;
    inputs = static_cast<int>(blockIdx.x) / unit_slices;
    units_slice = static_cast<int>(blockIdx.x) % unit_slices;

    const auto in = static_cast<int>(p.mlp.shape.in);
    const auto hidden_units = static_cast<int>(p.mlp.shape.hidden);
    first_input = inputs * plan.k_vectors * length;
    input_count = max(0, min(plan.k_vectors * length, in - first_input));
    const int per_slice = (hidden_units + unit_slices - 1) / unit_slices;
    first_unit = units_slice * per_slice;
    unit_count = max(0, min(per_slice, hidden_units - first_unit));
    units = plan.units;
    out = static_cast<int>(p.mlp.shape.out);
    rows = static_cast<int>(p.mlp.shape.rows);
    max_own_rows = (rows + input_slices - 1) / input_slices;
    first_row = min(rows, inputs * max_own_rows);
    own_rows = min(max_own_rows, rows - first_row);
    owners = (rows + max_own_rows - 1) / max_own_rows;
    k_vectors = plan.k_vectors;
    k_stride = (k_vectors | 1) * length;
    unit_stride = (units / length | 1) * length;
    gradients = units * (out + 1) + out;
    logits_box = even(unit_slices * max_own_rows * out);
    gradients_box = even(input_slices * gradients);

    const SharedLayout& at = plan.shared;
    input = shared + at.input;
    weight = shared + at.weight;
    partials = shared + at.partials;
    exchange = shared + at.exchange;
    hidden = shared + at.hidden;
    dhidden = shared + at.dhidden;
    outputs = shared + at.outputs;
    doutputs = shared + at.doutputs;
    out_weight = shared + at.out_weight;
    bias = shared + at.bias;
    out_bias = shared + at.out_bias;
    labels = reinterpret_cast<std::int32_t*>(shared + at.labels);
    samples = reinterpret_cast<std::uint32_t*>(shared + at.samples);
  }

  /// The slice of a batch's inputs: [rows][k stride]. Two batches take turns.
  __device__ T* input_of(Index step) const {
    return input + (step % 2 == 0 ? 0 : 1) * ((rows + 3) / 4 * 4) * k_stride;
  }
  __device__ std::int32_t* labels_of(Index step) const {
    return labels + (step % 2 == 0 ? 0 : max_own_rows);
  }
  __device__ std::uint32_t* samples_of(Index step) const {
    return samples + (step % 2 == 0 ? 0 : rows);
  }
};
//! [slice]

/// Calls use(i) for 0 to count - 1; the threads of the block share the work.
template <typename Use>
__device__ void for_each(int count, const Use& use) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) use(i);
}

//! [inboxes]
/// The inboxes of a step.
struct Inboxes {
  Word* sums;       ///< [unit slice][owner][input slice][own rows][units]: products of a slice of
                    ///< inputs
  Word* logits;     ///< [input slice][unit slice][own rows][out]: products of a slice of units
  Word* dhidden;    ///< [unit slice][rows][units]
  Word* gradients;  ///< [unit slice][owner][gradients]: sums over the owner's rows
  std::uint32_t flag;

  template <typename T>
  __device__ Inboxes(const Arguments<T>& p, Index step)
      : flag(p.first_flag + static_cast<std::uint32_t>(step)) {
    const MailboxLayout& at = p.plan.mailbox;
    Word* const begin = p.mailbox + (flag % 2 == 0 ? 0 : at.parity_words);
    sums = begin;
    logits = begin + at.logits;
    dhidden = begin + at.dhidden;
    gradients = begin + at.gradients;
  }
};
//! [inboxes]

}  // namespace stagewise::minibatch::persistent
