#include "01_serial/reduce.hpp"

namespace stagewise::serial {

//! [sum]
template <typename T>
void sum(Index n, const T* x, T* out) {
  double total = 0;  // a large float total would absorb no more small elements
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  out[0] = static_cast<T>(total);
}
//! [sum]

//! [column_sums]
template <typename T>
void column_sums(Index rows, Index cols, const T* x, T* out) {
  for (Index j = 0; j < cols; ++j) out[j] = 0;
  for (Index i = 0; i < rows; ++i) {  // row by row, in the order of memory
    for (Index j = 0; j < cols; ++j) out[j] += x[i * cols + j];
  }
}
//! [column_sums]

template void sum(Index, const float*, float*);
template void sum(Index, const double*, double*);
template void column_sums(Index, Index, const float*, float*);
template void column_sums(Index, Index, const double*, double*);

}  // namespace stagewise::serial
