#include "01_serial/reduce.hpp"

namespace stagewise::serial {

//! [column_sums]
template <typename T>
void column_sums(Index rows, Index cols, const T* x, T* out) {
  for (Index j = 0; j < cols; ++j) out[j] = 0;
  for (Index i = 0; i < rows; ++i) {  // row by row, in the order of memory
    for (Index j = 0; j < cols; ++j) out[j] += x[i * cols + j];
  }
}
//! [column_sums]

template void column_sums(Index, Index, const float*, float*);
template void column_sums(Index, Index, const double*, double*);

}  // namespace stagewise::serial
