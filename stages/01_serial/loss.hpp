/// @file
/// The two losses and the epoch's totals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "network/problems.hpp"

namespace stagewise::serial {

//! [softmax_cross_entropy]
/// probabilities = softmax(logits), row_losses[i] = -log probabilities[i, labels[i]].
template <typename T>
void softmax_cross_entropy(Index rows, Index cols, const T* logits, const std::int32_t* labels,
                           T* probabilities, T* row_losses) {
  for (Index i = 0; i < rows; ++i) {
    const T* const z = logits + i * cols;
    T* const p = probabilities + i * cols;
    // exp overflows beyond 88 in float; shifting all logits by their maximum changes no
    // probability.
    const T largest = *std::max_element(z, z + cols);
    T sum = 0;
    for (Index j = 0; j < cols; ++j) {
      p[j] = std::exp(z[j] - largest);
      sum += p[j];
    }
    for (Index j = 0; j < cols; ++j) p[j] /= sum;
    row_losses[i] = std::log(sum) - (z[labels[i]] - largest);
  }
}

/// dlogits = (probabilities - onehot(labels)) / batch_rows.
/// @param batch_rows rows of the whole batch, of which these rows may be a part.
template <typename T>
void softmax_cross_entropy_backward(Index rows, Index cols, Index batch_rows,
                                    const T* probabilities, const std::int32_t* labels,
                                    T* dlogits) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const T onehot = j == labels[i] ? T{1} : T{0};
      dlogits[i * cols + j] = (probabilities[i * cols + j] - onehot) / static_cast<T>(batch_rows);
    }
  }
}
//! [softmax_cross_entropy]

//! [squared_error]
/// row_losses[i] = sum over j of (target[i, j] - outputs[i, j])^2.
template <typename T>
void squared_error(Index rows, Index cols, const T* outputs, const std::int32_t* labels,
                   T* row_losses) {
  for (Index i = 0; i < rows; ++i) {
    row_losses[i] = 0;
    for (Index j = 0; j < cols; ++j) {
      const T difference = target<T>(cols, j, labels[i]) - outputs[i * cols + j];
      row_losses[i] += difference * difference;
    }
  }
}

/// doutputs = 2 (outputs - target) / batch_rows.
template <typename T>
void squared_error_backward(Index rows, Index cols, Index batch_rows, const T* outputs,
                            const std::int32_t* labels, T* doutputs) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const T difference = outputs[i * cols + j] - target<T>(cols, j, labels[i]);
      doutputs[i * cols + j] = 2 * difference / static_cast<T>(batch_rows);
    }
  }
}
//! [squared_error]

//! [accumulate]
/// Adds a batch's losses and correct predictions to the epoch's totals.
template <typename T>
void accumulate(Index rows, std::int64_t step, const T* row_losses, const std::int32_t* predictions,
                const std::int32_t* labels, Totals* totals) {
  double loss = 0;
  std::int64_t correct = 0;
  for (Index i = 0; i < rows; ++i) {
    loss += static_cast<double>(row_losses[i]);
    correct += predictions[i] == labels[i] ? 1 : 0;
  }
  if (!std::isfinite(loss) && totals->first_bad_step < 0) totals->first_bad_step = step;
  totals->loss += loss;
  totals->correct += correct;
}
//! [accumulate]

}  // namespace stagewise::serial
