/// @file
/// What a block of the persistent kernel works on, and where it finds it.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "cuda/fast_divmod.cuh"
#include "ladders/persistent/training/mailbox.cuh"
#include "ladders/persistent/training/mlp_steps.hpp"

namespace stagewise::minibatch::persistent {

/// What all blocks get.
template <typename T>
struct Arguments {
  Mlp<T> mlp;
  Plan plan;
  Sizes sizes;
  Word* mailbox;
  std::uint32_t first_flag;
  cuda::FastDivmod by_units;
  cuda::FastDivmod by_out;
  cuda::FastDivmod by_own_sums;
};

//! [slice]
/// A block's slice of the inputs and of the hidden units, the rows for which it goes all the way to
/// the loss, and its shared memory.
template <typename T>
struct Slice {
  static constexpr int length = shared_memory::Vector<T>::length;

  const Arguments<T>& p;
  const Sizes& sizes;
  T* shared;
  int inputs;  ///< number of the slice
  int units;   ///< likewise
  int first_input;
  int input_count;
  int first_unit;
  int unit_count;
  int first_row;
  int own_rows;

  __device__ Slice(const Arguments<T>& arguments, T* memory) : p(arguments), sizes(p.sizes), shared(memory) {
    inputs = static_cast<int>(blockIdx.x) / p.plan.unit_slices;
    units = static_cast<int>(blockIdx.x) % p.plan.unit_slices;
    const int inputs_per_slice = p.plan.k_vectors * length;
    first_input = min(sizes.in, inputs * inputs_per_slice);
    input_count = min(inputs_per_slice, sizes.in - first_input);
    const int units_per_slice = (sizes.hidden + p.plan.unit_slices - 1) / p.plan.unit_slices;
    first_unit = min(sizes.hidden, units * units_per_slice);
    unit_count = min(units_per_slice, sizes.hidden - first_unit);
    first_row = min(sizes.rows, inputs * sizes.own_rows);
    own_rows = min(sizes.own_rows, sizes.rows - first_row);
  }

  __device__ T* weight() const { return shared + p.plan.shared.weight; }
  __device__ T* partials() const { return shared + p.plan.shared.partials; }
  __device__ T* exchange() const { return shared + p.plan.shared.exchange; }
  __device__ T* hidden() const { return shared + p.plan.shared.hidden; }
  __device__ T* dhidden() const { return shared + p.plan.shared.dhidden; }
  __device__ T* outputs() const { return shared + p.plan.shared.outputs; }
  __device__ T* doutputs() const { return shared + p.plan.shared.doutputs; }
  __device__ T* out_weight() const { return shared + p.plan.shared.out_weight; }
  __device__ T* bias() const { return shared + p.plan.shared.bias; }
  __device__ T* out_bias() const { return shared + p.plan.shared.out_bias; }

  /// The slice of a batch's inputs, [rows][k stride]. Two batches take turns.
  __device__ T* input(Index step) const {
    return shared + p.plan.shared.input + (step % 2 == 0 ? 0 : sizes.padded_rows * sizes.k_stride);
  }

  /// The labels of own rows.
  __device__ std::int32_t* labels(Index step) const {
    return reinterpret_cast<std::int32_t*>(shared + p.plan.shared.labels) + (step % 2 == 0 ? 0 : sizes.own_rows);
  }

  /// Which samples are the batch.
  __device__ std::uint32_t* samples(Index step) const {
    return reinterpret_cast<std::uint32_t*>(shared + p.plan.shared.samples) + (step % 2 == 0 ? 0 : sizes.rows);
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
  __device__ Inboxes(const Slice<T>& s, Index step) : flag(s.p.first_flag + static_cast<std::uint32_t>(step)) {
    const MailboxLayout& at = s.p.plan.mailbox;
    Word* const begin = s.p.mailbox + (flag % 2 == 0 ? 0 : at.parity_words);
    sums = begin;
    logits = begin + at.logits;
    dhidden = begin + at.dhidden;
    gradients = begin + at.gradients;
  }
};
//! [inboxes]

}  // namespace stagewise::minibatch::persistent
