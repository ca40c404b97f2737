/// @file
/// How a multilayer perceptron is divided among the blocks of a persistent kernel.
#pragma once

#include <cstddef>
#include <optional>

#include "ladders/persistent/flagged_words.hpp"
#include "tensor/shape.hpp"

namespace stagewise::minibatch::persistent {

/// The sizes of a network with one hidden layer, and of its largest batch.
struct MlpShape {
  Index in = 0;
  Index hidden = 0;
  Index out = 0;
  Index rows = 0;
};

/// Threads of a block. Each can have 128 registers.
constexpr int block_threads = 512;

/// The most hidden units that a thread multiplies at a time: sums of more would not fit into its
/// registers.
template <typename T>
constexpr int max_unit_tile = sizeof(T) == 4 ? 8 : 4;

/// Rows of a batch that a thread multiplies at a time.
constexpr int row_tile = 4;

/// Where things are in a block's shared memory, counted in numbers.
struct SharedLayout {
  int input = 0;       ///< [2][rows padded][k stride]: the slice of this batch and of the next
  int weight = 0;      ///< [units][k stride]: the slice of the hidden layer's weights
  int partials = 0;    ///< sums of parts of the threads, or of other blocks
  int exchange = 0;    ///< what others have sent: logits, gradients
  int hidden = 0;      ///< [own rows][units]
  int dhidden = 0;     ///< [own rows][units]
  int outputs = 0;     ///< [own rows, padded to pairs][out]
  int doutputs = 0;    ///< likewise
  int out_weight = 0;  ///< [out][unit stride]: the slice of the last layer's weights
  int bias = 0;        ///< [units]
  int out_bias = 0;    ///< [out]
  int labels = 0;      ///< [2][own rows], each an int32
  int samples = 0;     ///< [2][rows], each an uint32: which ones they are
  int size = 0;        ///< of all
};

/// Where the inboxes begin, counted in words. Of each but the last there are two, `parity_words`
/// apart.
struct MailboxLayout {
  Index logits = 0;  ///< the first inbox begins at 0
  Index dhidden = 0;
  Index gradients = 0;
  Index parity_words = 0;
  Index scores = 0;
  Index size = 0;
};

/// Which block does what: block number s unit_slices + c has slice s of the inputs and slice c of
/// the hidden units.
struct Plan {
  int input_slices = 0;
  int unit_slices = 0;
  int unit_tile = 0;       ///< hidden units of a thread in a product: 4 or 8
  int k_vectors = 0;       ///< of 16 bytes: the inputs of a slice
  int units = 0;           ///< of a slice, padded to whole tiles
  int forward_parts = 0;   ///< of a slice's inputs, among the threads
  int backward_parts = 0;  ///< of the batch's rows, among the threads
  SharedLayout shared;
  MailboxLayout mailbox;
  double cycles = 0;  ///< that a step is estimated to take

  int blocks() const { return input_slices * unit_slices; }
};

/// The sizes that all blocks have in common.
struct Sizes {
  int in = 0;
  int hidden = 0;
  int out = 0;
  int rows = 0;         ///< of a batch
  int padded_rows = 0;  ///< whole tiles
  int own_rows = 0;     ///< the most rows for which a block goes all the way to the loss
  int owners = 0;       ///< slices of inputs whose blocks have rows
  int k_stride = 0;
  int units = 0;  ///< of a slice, with the padding
  int unit_stride = 0;
  int unit_groups = 0;
  int own_sums = 0;       ///< own rows x units
  int gradients = 0;      ///< of the last layer's weights, then of the hidden and of its biases
  int logits_box = 0;     ///< numbers in the inbox of a slice of inputs
  int gradients_box = 0;  ///< numbers in the inbox of a slice of units
};

/// For batches of `shape.rows`, which are no more than those of the plan.
template <typename T>
Sizes sizes_of(const MlpShape& shape, const Plan& plan);

/// The division into these slices; none if it does not fit into `shared_bytes` for a block.
template <typename T>
std::optional<Plan> plan_slices(const MlpShape& shape, int input_slices, int unit_slices, int unit_tile,
                                std::size_t shared_bytes);

/// The division that is estimated to be the fastest on the current GPU; none if none fits.
/// @throws Error if no GPU can be used.
template <typename T>
std::optional<Plan> plan_blocks(const MlpShape& shape);

/// Whether steps by a persistent kernel are estimated to be faster than the kernels of a recorded
/// step, one after another.
bool is_faster(const Plan& plan, const MlpShape& shape);

}  // namespace stagewise::minibatch::persistent
