#include "01_serial/loss.hpp"

#include <algorithm>
#include <cmath>

#include "network/problems.hpp"

namespace stagewise::serial {

//! [softmax_cross_entropy]
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

template void softmax_cross_entropy(Index, Index, const float*, const std::int32_t*, float*,
                                    float*);
template void softmax_cross_entropy(Index, Index, const double*, const std::int32_t*, double*,
                                    double*);
template void softmax_cross_entropy_backward(Index, Index, Index, const float*, const std::int32_t*,
                                             float*);
template void softmax_cross_entropy_backward(Index, Index, Index, const double*,
                                             const std::int32_t*, double*);
template void squared_error(Index, Index, const float*, const std::int32_t*, float*);
template void squared_error(Index, Index, const double*, const std::int32_t*, double*);
template void squared_error_backward(Index, Index, Index, const float*, const std::int32_t*,
                                     float*);
template void squared_error_backward(Index, Index, Index, const double*, const std::int32_t*,
                                     double*);
template void accumulate(Index, std::int64_t, const float*, const std::int32_t*,
                         const std::int32_t*, Totals*);
template void accumulate(Index, std::int64_t, const double*, const std::int32_t*,
                         const std::int32_t*, Totals*);

}  // namespace stagewise::serial
