#include "01_serial/update.hpp"

namespace stagewise::serial {

//! [sgd_update]
template <typename T>
void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) {
  for (Index i = 0; i < n; ++i) {
    parameter[i] -= learning_rate * (gradient[i] + l2 * parameter[i]);
  }
}
//! [sgd_update]

template void sgd_update(Index, float, float, const float*, float*);
template void sgd_update(Index, double, double, const double*, double*);

}  // namespace stagewise::serial
