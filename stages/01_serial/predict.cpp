#include "01_serial/predict.hpp"

namespace stagewise::serial {

//! [argmax]
template <typename T>
void argmax(Index rows, Index cols, const T* x, std::int32_t* out) {
  for (Index i = 0; i < rows; ++i) {
    Index best = 0;
    for (Index j = 1; j < cols; ++j) {
      if (x[i * cols + j] > x[i * cols + best]) best = j;  // not >=: the lowest wins ties
    }
    out[i] = static_cast<std::int32_t>(best);
  }
}
//! [argmax]

template <typename T>
void threshold(Index rows, T cut, const T* x, std::int32_t* out) {
  for (Index i = 0; i < rows; ++i) out[i] = x[i] >= cut ? 1 : 0;
}

template void argmax(Index, Index, const float*, std::int32_t*);
template void argmax(Index, Index, const double*, std::int32_t*);
template void threshold(Index, float, const float*, std::int32_t*);
template void threshold(Index, double, const double*, std::int32_t*);

}  // namespace stagewise::serial
