#include "01_serial/update.hpp"

#include <cmath>

namespace stagewise::serial {

//! [sgd_update]
template <typename T>
void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) {
  for (Index i = 0; i < n; ++i) {
    parameter[i] -= learning_rate * (gradient[i] + l2 * parameter[i]);
  }
}
//! [sgd_update]

//! [momentum_update]
template <typename T>
void momentum_update(Index n, T momentum, T l2, const T* gradient, const StepRates* rates,
                     T* velocity, T* parameter) {
  const T rate = static_cast<T>(rates->rate);
  for (Index i = 0; i < n; ++i) {
    T direction = gradient[i] + l2 * parameter[i];
    if (velocity != nullptr) direction = velocity[i] = momentum * velocity[i] + direction;
    parameter[i] -= rate * direction;
  }
}
//! [momentum_update]

//! [adam_update]
template <typename T>
void adam_update(Index n, const AdamNumbers<T>& a, const T* gradient, const StepRates* rates, T* m,
                 T* v, T* parameter) {
  const T rate = static_cast<T>(rates->rate);
  const T correction = static_cast<T>(rates->correction);
  for (Index i = 0; i < n; ++i) {
    const T g = gradient[i] + a.l2 * parameter[i];
    m[i] += a.new_in_first * (g - m[i]);
    v[i] = a.beta2 * v[i] + a.new_in_second * g * g;
    parameter[i] -= rate * m[i] / (std::sqrt(v[i]) / correction + a.epsilon);
  }
}
//! [adam_update]

template void sgd_update(Index, float, float, const float*, float*);
template void sgd_update(Index, double, double, const double*, double*);
template void momentum_update(Index, float, float, const float*, const StepRates*, float*, float*);
template void momentum_update(Index, double, double, const double*, const StepRates*, double*,
                              double*);
template void adam_update(Index, const AdamNumbers<float>&, const float*, const StepRates*, float*,
                          float*, float*);
template void adam_update(Index, const AdamNumbers<double>&, const double*, const StepRates*,
                          double*, double*, double*);

}  // namespace stagewise::serial
