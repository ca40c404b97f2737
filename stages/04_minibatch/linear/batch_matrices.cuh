/// @file
/// What stage 04 multiplies besides stored matrices: rows picked from the data set, and a bias that
/// is one more row of the weights.
///
/// Stage 03 gathered a batch on the host, or would gather it by a kernel of its own that reads and
/// writes it once. But a product can just as well read a row where it is: only the address of the
/// row's beginning changes. These are factors of the GEMM in fitted tiles, beside the
/// StridedMatrix of gemm/loader.cuh; batch_copies.cuh copies them.
#pragma once

#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::minibatch {

//! [batch_rows]
/// The batch as op(A) of the forward product: a place is a row of the batch, a step a feature.
/// @tparam length_ how many features can be copied at once.
template <typename T, int length_>
struct BatchRows {
  static constexpr bool along = true;  ///< features are neighbours in memory, and so are steps
  static constexpr int length = length_;

  const T* data;
  int places;  ///< rows of the batch
  int steps;   ///< features
  const std::uint32_t* order;

  /// The first feature of a row. Past the last row, others stand in.
  __device__ const T* row(int place) const {
    const int inside = shared_memory::place_inside(place, places);
    return data + static_cast<Index>(order != nullptr ? order[inside] : inside) * steps;
  }
};
//! [batch_rows]

//! [batch_columns]
/// The batch transposed, as op(A) of the weights' gradient: a place is a feature, a step a row of
/// the batch. Behind the last feature, there may be one more place, where every row has a 1: the
/// product with the output's gradient is then the gradient of the weights, and below it that of the
/// bias.
/// @tparam length_ how many features can be copied at once.
template <typename T, int length_>
struct BatchColumns {
  static constexpr bool along = false;  ///< features are neighbours in memory, and so are places
  static constexpr int length = length_;

  const T* data;
  int places;  ///< features
  int steps;   ///< rows of the batch
  const std::uint32_t* order;
  const T* one;  ///< 1, 0, 0, 0, ...: `length` numbers; null: there are no ones
  int stride;    ///< from a sample to the next

  /// The place to copy from where `place` is wanted. Past the last, others stand in.
  __device__ int place_for(int place) const {
    const bool is_ones = one != nullptr && place == places;
    return is_ones ? place : shared_memory::place_inside(place, places);
  }

  /// The number that row number `step` of the batch has in the data set.
  __device__ std::uint32_t sample(int step) const {
    if (order == nullptr) return static_cast<std::uint32_t>(step);
    return order[step < steps ? step : 0];
  }

  /// Where a sample has a feature, or its 1.
  __device__ const T* at(int place, std::uint32_t sample) const {
    return place == places ? one : data + (static_cast<Index>(sample) * stride + place);
  }
};
//! [batch_columns]

}  // namespace stagewise::minibatch
