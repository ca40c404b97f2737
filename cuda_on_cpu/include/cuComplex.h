/// @file
/// Complex numbers as vectors of two.
#pragma once

#include <cmath>

#include "vector_types.h"

using cuFloatComplex = float2;
using cuComplex = cuFloatComplex;
using cuDoubleComplex = double2;

inline float cuCrealf(cuFloatComplex z) {
  return z.x;
}
inline float cuCimagf(cuFloatComplex z) {
  return z.y;
}
inline cuFloatComplex make_cuFloatComplex(float real, float imaginary) {
  return {real, imaginary};
}
inline cuFloatComplex cuConjf(cuFloatComplex z) {
  return {z.x, -z.y};
}
inline cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) {
  return {a.x + b.x, a.y + b.y};
}
inline cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) {
  return {a.x - b.x, a.y - b.y};
}
inline cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// Both are scaled first, so that the squares stay within the range.
inline cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b) {
  const float scale = 1 / (std::fabs(b.x) + std::fabs(b.y));
  const cuFloatComplex p{a.x * scale, a.y * scale};
  const cuFloatComplex q{b.x * scale, b.y * scale};
  const float factor = 1 / (q.x * q.x + q.y * q.y);
  return {(p.x * q.x + p.y * q.y) * factor, (p.y * q.x - p.x * q.y) * factor};
}
inline float cuCabsf(cuFloatComplex z) {
  return std::hypot(z.x, z.y);
}
/// a * b + c.
inline cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) {
  return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};
}

inline double cuCreal(cuDoubleComplex z) {
  return z.x;
}
inline double cuCimag(cuDoubleComplex z) {
  return z.y;
}
inline cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
  return {real, imaginary};
}
inline cuDoubleComplex cuConj(cuDoubleComplex z) {
  return {z.x, -z.y};
}
inline cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x + b.x, a.y + b.y};
}
inline cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x - b.x, a.y - b.y};
}
inline cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// Both are scaled first, so that the squares stay within the range.
inline cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b) {
  const double scale = 1 / (std::fabs(b.x) + std::fabs(b.y));
  const cuDoubleComplex p{a.x * scale, a.y * scale};
  const cuDoubleComplex q{b.x * scale, b.y * scale};
  const double factor = 1 / (q.x * q.x + q.y * q.y);
  return {(p.x * q.x + p.y * q.y) * factor, (p.y * q.x - p.x * q.y) * factor};
}
inline double cuCabs(cuDoubleComplex z) {
  return std::hypot(z.x, z.y);
}
/// a * b + c.
inline cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) {
  return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};
}

inline cuComplex make_cuComplex(float real, float imaginary) {
  return {real, imaginary};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return {z.x, z.y};
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
