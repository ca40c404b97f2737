#include "01_serial/reduce.hpp"

namespace stagewise::serial {

//! [sum]
template <typename T>
void sum(Index n, const T* x, T* out) {
  double total = 0;  // a float would stop growing once the total dwarfs the elements
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  out[0] = static_cast<T>(total);
}
//! [sum]

//! [sum_rows]
template <typename T>
void sum_rows(Index rows, Index cols, const T* x, T* out) {
  for (Index j = 0; j < cols; ++j) out[j] = 0;
  for (Index i = 0; i < rows; ++i) {  // row by row, the way memory runs
    for (Index j = 0; j < cols; ++j) out[j] += x[i * cols + j];
  }
}
//! [sum_rows]

template void sum(Index, const float*, float*);
template void sum(Index, const double*, double*);
template void sum_rows(Index, Index, const float*, float*);
template void sum_rows(Index, Index, const double*, double*);

}  // namespace stagewise::serial
