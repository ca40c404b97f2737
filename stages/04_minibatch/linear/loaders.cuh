/// @file
/// What stage 04 multiplies besides stored matrices: rows picked from the data set, and a bias that
/// is one more row of the weights.
///
/// Stage 03 gathered a batch on the host, or would gather it by a kernel of its own that reads and
/// writes it once. But a product can just as well read a row where it is: only the address of the
/// row's beginning changes. These are loaders of the GEMM's main loop (gemm/loader.cuh).
#pragma once

#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::minibatch {

using shared_memory::Element;

//! [selected_rows]
/// The batch as op(A) of the forward product: a place is a row of the batch, a step a feature.
/// @tparam length_ how many features can be loaded at once.
template <typename T, int length_>
struct SelectedRows {
  static constexpr int length = length_;

  /// The first feature of a sample.
  struct Row {
    const T* begin;
    int steps;  ///< 0 if there is no such sample
  };

  const T* data;
  int rows;
  int features;
  const std::uint32_t* order;

  /// Features are neighbours, and so are steps.
  static __device__ constexpr bool memory_runs_along() { return true; }

  /// Where a sample begins.
  __device__ Row row(int place) const {
    if (place >= rows) return {data, 0};
    return {data + static_cast<Index>(order[place]) * features, features};
  }

  /// Where its feature number `step` is.
  __device__ Element<T> at(const Row& row, int step) const {
    return {row.begin + step, step < row.steps};
  }
};
//! [selected_rows]

//! [selected_steps]
/// The batch transposed, as op(A) of the weights' gradient: a place is a feature, a step a sample.
/// @tparam length_ how many features can be loaded at once.
template <typename T, int length_>
struct SelectedSteps {
  static constexpr int length = length_;

  /// A feature of the data set's first sample.
  struct Row {
    const T* begin;
    int steps;  ///< 0 if there is no such feature
  };

  const T* data;
  int places;  ///< features
  int steps;   ///< rows of the batch
  const std::uint32_t* order;

  /// Features are neighbours, and so are places.
  static __device__ constexpr bool memory_runs_along() { return false; }

  /// Where the data set's first sample has the feature.
  __device__ Row row(int place) const {
    return {data + (place < places ? place : 0), place < places ? steps : 0};
  }

  /// The number that sample number `step` of the batch has in the data set.
  using Step = std::uint32_t;

  /// Looks it up.
  __device__ Step step(int step) const { return step < steps ? order[step] : 0; }

  /// Where sample number `step` of the batch has the feature.
  __device__ Element<T> at(const Row& row, int step, Step sample) const {
    return {row.begin + static_cast<Index>(sample) * places, step < row.steps};
  }
};
//! [selected_steps]

//! [with_ones]
/// A transposed input with one more place, where every sample has a 1: the product with the
/// output's gradient is then the gradient of the weights, and below it that of the bias.
template <typename T, typename Loader>
struct WithOnes : Loader {
  /// A row of the input, or the ones.
  struct Row {
    typename Loader::Row stored;
    bool is_ones;
  };

  const T* one;  ///< 1, 0, 0, 0, ...: `length` numbers
  bool has_ones;

  /// Where a feature is, or the ones behind the last feature.
  __device__ Row row(int place) const {
    return {Loader::row(place), has_ones && place == this->places};
  }

  /// Where sample number `step` has it.
  template <typename... Step>
  __device__ Element<T> at(const Row& row, int step, Step... found) const {
    if (row.is_ones) return {one, step < this->steps};
    return Loader::at(row.stored, step, found...);
  }
};
//! [with_ones]

}  // namespace stagewise::minibatch
