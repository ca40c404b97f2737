#include "01_serial/elementwise.hpp"

#include <cmath>

namespace stagewise::serial {

//! [add_bias]
template <typename T>
void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] + bias[j];
  }
}
//! [add_bias]

//! [relu]
template <typename T>
void relu(Index n, const T* x, T* y) {
  for (Index i = 0; i < n; ++i) y[i] = x[i] < T{0} ? T{0} : x[i];  // in this form, a NaN stays
}

template <typename T>
void relu_backward(Index n, const T* y, const T* dy, T* dx) {
  for (Index i = 0; i < n; ++i) dx[i] = y[i] > T{0} ? dy[i] : T{0};
}
//! [relu]

//! [sigmoid]
template <typename T>
void sigmoid(Index n, const T* x, T* y) {
  for (Index i = 0; i < n; ++i) y[i] = T{1} / (T{1} + std::exp(-x[i]));
}

template <typename T>
void sigmoid_backward(Index n, const T* y, const T* dy, T* dx) {
  for (Index i = 0; i < n; ++i) dx[i] = dy[i] * y[i] * (T{1} - y[i]);
}
//! [sigmoid]

template <typename T>
void add(Index n, const T* x, const T* y, T* z) {
  for (Index i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

template void add(Index, const float*, const float*, float*);
template void add(Index, const double*, const double*, double*);
template void add_bias(Index, Index, const float*, const float*, float*);
template void add_bias(Index, Index, const double*, const double*, double*);
template void relu(Index, const float*, float*);
template void relu(Index, const double*, double*);
template void relu_backward(Index, const float*, const float*, float*);
template void relu_backward(Index, const double*, const double*, double*);
template void sigmoid(Index, const float*, float*);
template void sigmoid(Index, const double*, double*);
template void sigmoid_backward(Index, const float*, const float*, float*);
template void sigmoid_backward(Index, const double*, const double*, double*);

}  // namespace stagewise::serial
