#include "ladders/reduce/serial.hpp"

namespace stagewise::serial {

//! [sum]
template <typename T>
void sum(Index n, const T* x, T* out) {
  double total = 0;  // a large float total would absorb no more small elements
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  out[0] = static_cast<T>(total);
}
//! [sum]

template void sum(Index, const float*, float*);
template void sum(Index, const double*, double*);

}  // namespace stagewise::serial
