#include "ladders/transpose/serial.hpp"

namespace stagewise::serial {

//! [transpose]
template <typename T>
void transpose(Index rows, Index cols, const T* x, T* y) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) y[j * rows + i] = x[i * cols + j];
  }
}
//! [transpose]

template void transpose(Index, Index, const float*, float*);
template void transpose(Index, Index, const double*, double*);

}  // namespace stagewise::serial
