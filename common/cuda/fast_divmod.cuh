/// @file
/// Division by a number that is known only when a kernel is launched.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::cuda {

/// Divides repeatedly by the same number, with one multiplication each: a GPU has no instruction
/// for integer division; the compiler's routine takes about twenty instructions.
///
/// n / d is floor(n (2^32 + f) / 2^(32 + s)) for the s and f below and all n under 2^31
/// (T. Granlund and P. Montgomery, Division by Invariant Integers using Multiplication, 1994).
class FastDivmod {
 public:
  /// @param divisor 1 to 2^31 - 1.
  explicit FastDivmod(int divisor) : divisor_(divisor) {
    while (shift_ < 31 && (1U << shift_) < static_cast<unsigned>(divisor)) ++shift_;
    const unsigned long long excess = (1ULL << shift_) - static_cast<unsigned>(divisor);
    factor_ = static_cast<unsigned>((excess << 32U) / static_cast<unsigned>(divisor)) + 1;
  }

  struct Result {
    int quotient;
    int remainder;
  };

  /// @param number 0 to 2^31 - 1.
  __host__ __device__ Result divide(int number) const {
    const auto n = static_cast<unsigned>(number);
    const auto high = static_cast<unsigned>((static_cast<unsigned long long>(n) * factor_) >> 32U);
    const auto quotient = static_cast<int>((high + n) >> shift_);
    return {quotient, number - quotient * divisor_};
  }

 private:
  int divisor_;
  unsigned factor_;
  unsigned shift_ = 0;
};

}  // namespace stagewise::cuda
