/// @file
/// The last layer in the persistent kernel: from the hidden values of a block's own rows to the
/// loss, and back to their gradient.
///
/// The blocks of the same rows have a slice of the hidden units each. They exchange what their
/// slices give of the logits; then each computes the gradients of all logits for itself, as it
/// needs them for its slice of the way back.
#pragma once

#include "04_minibatch/output_layer/row_loss.cuh"
#include "ladders/persistent/training/slice.cuh"

namespace stagewise::minibatch::persistent {

/// What a thread knows of the losses of its rows.
struct Score {
  double loss = 0;
  std::int64_t correct = 0;
  std::int64_t first_bad_step = -1;
};

//! [send_logits]
/// Sends what this slice of units gives of the logits.
template <typename T>
__device__ void send_logits(const Slice<T>& s, const Inboxes& boxes) {
  using Vector = shared_memory::Vector<T>;
  Word* const box = boxes.logits + static_cast<Index>(s.inputs) * s.sizes.logits_box * words_of<T>;
  const int first = s.units * s.own_rows * s.sizes.out;
  for_each(s.own_rows * s.sizes.out, [&](int i) {
    const auto place = s.p.by_out.divide(i);
    const T* const h = s.hidden() + place.quotient * s.sizes.units;
    const T* const w = s.out_weight() + place.remainder * s.sizes.unit_stride;
    T sums[Vector::length] = {};
#pragma unroll 4
    for (int u = 0; u < s.sizes.units; u += Vector::length) {
      const Vector a = *reinterpret_cast<const Vector*>(h + u);
      const Vector b = *reinterpret_cast<const Vector*>(w + u);
#pragma unroll
      for (int e = 0; e < Vector::length; ++e) sums[e] += a.values[e] * b.values[e];
    }
    T sum = sums[0];
#pragma unroll
    for (int e = 1; e < Vector::length; ++e) sum += sums[e];
    send(box, first + i, boxes.flag, sum);
  });
}
//! [send_logits]

/// How many lanes work on a row of outputs.
inline __device__ int lanes_a_row(int out) { return out <= 16 ? 16 : 32; }

/// Adds up the logits' parts, in the order of the slices, and finds the losses of own rows and the
/// gradients of their logits. Only the blocks of the first slice of units count the losses. Where a
/// warp has two rows, the second may be padding.
template <int lanes, bool one_per_lane, typename T>
__device__ void find_losses(const Slice<T>& s, const std::int32_t* labels, std::int64_t step, Score& score) {
  const int out = s.sizes.out;
  const int own = s.own_rows * out;
  const int groups = static_cast<int>(blockDim.x) / lanes;
  const int in_warp = static_cast<int>(threadIdx.x) % 32 / lanes;
  for (int row = static_cast<int>(threadIdx.x) / lanes; row - in_warp < s.own_rows; row += groups) {
    const bool is_own = row < s.own_rows;
    T* const outputs = s.outputs() + row * out;
    for_own_outputs<lanes, one_per_lane>(out, [&](int j) {
      const T* const parts = s.exchange() + row * out + j;
      T sum = 0;
#pragma unroll 4
      for (int slice = 0; is_own && slice < s.p.plan.unit_slices; ++slice) sum += parts[slice * own];
      outputs[j] = activate(s.p.mlp.loss.activation, sum + s.out_bias()[j]);
    });
    __syncwarp();
    const std::int32_t label = labels[is_own ? row : s.own_rows - 1];
    const BlockPartial of_row = row_loss<lanes, one_per_lane>(s.p.mlp.loss, outputs, label, s.doutputs() + row * out);
    if (s.units != 0 || !is_own) continue;
    if (!isfinite(of_row.loss) && score.first_bad_step < 0) score.first_bad_step = step;
    score.loss += of_row.loss;
    score.correct += of_row.correct;
  }
}

/// Receives the logits' parts from all blocks of the same rows, and goes on to the gradients.
template <typename T>
__device__ void find_output_gradients(const Slice<T>& s, const Inboxes& boxes, const std::int32_t* labels,
                                      std::int64_t step, Score& score) {
  const int own = s.own_rows * s.sizes.out;
  Word* const box = boxes.logits + static_cast<Index>(s.inputs) * s.sizes.logits_box * words_of<T>;
  receive<4>(s.p.plan.unit_slices * own, boxes.flag, s.exchange(), [&](int i) { return box + i * words_of<T>; });
  __syncthreads();
  if (lanes_a_row(s.sizes.out) == 16) {
    find_losses<16, true>(s, labels, step, score);
  } else {
    find_losses<32, false>(s, labels, step, score);
  }
  __syncthreads();
}

//! [send_dhidden]
/// Sends the gradient before the hidden layer's activation, of own rows, to all blocks of the same
/// units.
template <typename T>
__device__ void send_dhidden(const Slice<T>& s, const Inboxes& boxes) {
  Word* const box = boxes.dhidden + static_cast<Index>(s.units) * s.sizes.rows * s.sizes.units * words_of<T>;
  for_each(s.own_rows * s.sizes.units, [&](int i) {
    const auto place = s.p.by_units.divide(i);
    T sum = 0;
#pragma unroll 4
    for (int j = 0; j < s.sizes.out; ++j) {
      sum += s.doutputs()[place.quotient * s.sizes.out + j] * s.out_weight()[j * s.sizes.unit_stride + place.remainder];
    }
    sum = through_activation(s.p.mlp.activation, s.hidden()[i], sum);
    s.dhidden()[i] = sum;
    send(box, s.first_row * s.sizes.units + i, boxes.flag, sum);
  });
  __syncthreads();
}
//! [send_dhidden]

/// Receives it for all rows, [rows][units]; behind the next barrier it is there.
template <typename T>
__device__ void receive_dhidden(const Slice<T>& s, const Inboxes& boxes) {
  Word* const box = boxes.dhidden + static_cast<Index>(s.units) * s.sizes.rows * s.sizes.units * words_of<T>;
  receive<4>(s.sizes.rows * s.sizes.units, boxes.flag, s.exchange(), [&](int i) { return box + i * words_of<T>; });
}

/// Sends the sums over own rows of the gradients of the last layer's weights and of both biases.
template <typename T>
__device__ void send_gradients(const Slice<T>& s, const Inboxes& boxes) {
  if (s.own_rows == 0) return;
  Word* const box = boxes.gradients + static_cast<Index>(s.units) * s.sizes.gradients_box * words_of<T>;
  const int first = s.inputs * s.sizes.gradients;
  const int weights = s.sizes.units * s.sizes.out;
  for_each(s.sizes.gradients, [&](int i) {
    const auto place = s.p.by_units.divide(i);
    T sum = 0;
    if (i < weights) {
#pragma unroll 4
      for (int row = 0; row < s.own_rows; ++row) {
        sum += s.hidden()[row * s.sizes.units + place.remainder] * s.doutputs()[row * s.sizes.out + place.quotient];
      }
    } else if (i < weights + s.sizes.units) {
#pragma unroll 4
      for (int row = 0; row < s.own_rows; ++row) sum += s.dhidden()[row * s.sizes.units + place.remainder];
    } else {
#pragma unroll 4
      for (int row = 0; row < s.own_rows; ++row) {
        sum += s.doutputs()[row * s.sizes.out + i - weights - s.sizes.units];
      }
    }
    send(box, first + i, boxes.flag, sum);
  });
}

/// Receives these sums from all blocks of the same units; behind the next barrier they are there.
template <typename T>
__device__ void receive_gradients(const Slice<T>& s, const Inboxes& boxes) {
  Word* const box = boxes.gradients + static_cast<Index>(s.units) * s.sizes.gradients_box * words_of<T>;
  receive<4>(s.sizes.owners * s.sizes.gradients, boxes.flag, s.exchange(),
             [&](int i) { return box + i * words_of<T>; });
}

/// Adds them up, in the order of the rows, and updates the slice of the last layer and the biases.
template <typename T>
__device__ void update_output_layer(const Slice<T>& s) {
  const Mlp<T>& mlp = s.p.mlp;
  const int weights = s.sizes.units * s.sizes.out;
  for_each(s.sizes.gradients, [&](int i) {
    T gradient = s.exchange()[i];
#pragma unroll 4
    for (int owner = 1; owner < s.sizes.owners; ++owner) {
      gradient += s.exchange()[owner * s.sizes.gradients + i];
    }
    const auto place = s.p.by_units.divide(i);
    if (i < weights) {
      T& weight = s.out_weight()[place.quotient * s.sizes.unit_stride + place.remainder];
      if (place.remainder < s.unit_count) {
        weight -= mlp.learning_rate * (gradient + mlp.l2 * weight);
      }
    } else if (i < weights + s.sizes.units) {
      if (mlp.bias != nullptr) s.bias()[place.remainder] -= mlp.learning_rate * gradient;
    } else if (mlp.out_bias != nullptr) {
      s.out_bias()[i - weights - s.sizes.units] -= mlp.learning_rate * gradient;
    }
  });
}

}  // namespace stagewise::minibatch::persistent
