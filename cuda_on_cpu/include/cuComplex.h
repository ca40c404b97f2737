/// @file
/// Complex numbers as vectors of two.
#pragma once

#include <cmath>

#include "vector_types.h"

using cuFloatComplex = float2;
using cuComplex = cuFloatComplex;
using cuDoubleComplex = double2;

// For each precision, the functions whose names end with `f` or with nothing. A division scales
// both first, so that the squares stay within the range; the last function is a * b + c.
#define CUDA_ON_CPU_COMPLEX(Complex, Real, f)                                                               \
  inline Real cuCreal##f(Complex z) { return z.x; }                                                         \
  inline Real cuCimag##f(Complex z) { return z.y; }                                                         \
  inline Complex make_##Complex(Real real, Real imaginary) { return {real, imaginary}; }                    \
  inline Complex cuConj##f(Complex z) { return {z.x, -z.y}; }                                               \
  inline Complex cuCadd##f(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }                         \
  inline Complex cuCsub##f(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }                         \
  inline Complex cuCmul##f(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  inline Complex cuCdiv##f(Complex a, Complex b) {                                                          \
    const Real scale = 1 / (std::fabs(b.x) + std::fabs(b.y));                                               \
    const Complex p{a.x * scale, a.y * scale};                                                              \
    const Complex q{b.x * scale, b.y * scale};                                                              \
    const Real factor = 1 / (q.x * q.x + q.y * q.y);                                                        \
    return {(p.x * q.x + p.y * q.y) * factor, (p.y * q.x - p.x * q.y) * factor};                            \
  }                                                                                                         \
  inline Real cuCabs##f(Complex z) { return std::hypot(z.x, z.y); }                                         \
  inline Complex cuCfma##f(Complex a, Complex b, Complex c) {                                               \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                      \
  }
CUDA_ON_CPU_COMPLEX(cuFloatComplex, float, f)
CUDA_ON_CPU_COMPLEX(cuDoubleComplex, double, )
#undef CUDA_ON_CPU_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
