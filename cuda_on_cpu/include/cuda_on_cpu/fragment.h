/// @file
/// Behind <mma.h>: the part of a matrix that a lane of a warp holds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/lane_group.h"
#include "cuda_runtime.h"

namespace nvcuda::wmma {

// What a fragment is to be, and how its elements lie in memory.
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {

/// A float of which the products take 10 bits of the fraction.
struct tf32 {};

}  // namespace precision

namespace detail {

template <class T>
constexpr bool is_byte = std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;
template <class T>
constexpr bool is_small_float = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// Whether tensor cores multiply matrices of this shape and type, or add up so.
template <class Use, int m, int n, int k, class T>
constexpr bool exists() {
  constexpr bool sums = std::is_same_v<Use, accumulator>;
  if (m == 8 && n == 8 && k == 4) return std::is_same_v<T, double>;
  if (m == 16 && n == 16 && k == 8) {
    return sums ? std::is_same_v<T, float> : std::is_same_v<T, precision::tf32>;
  }
  const bool is_shape =
      k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  if (!sums) return is_shape && (is_byte<T> || is_small_float<T>);
  return is_shape &&
         (std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, int>);
}

/// Whether products of T are added up in Sum.
template <class T, class Sum>
constexpr bool is_sum_of = std::is_same_v<T, double> ? std::is_same_v<Sum, double>
                           : is_byte<T>
                               ? std::is_same_v<Sum, int>
                               : std::is_same_v<Sum, float> ||
                                     (std::is_same_v<T, __half> && std::is_same_v<Sum, __half>);

}  // namespace detail

/// A matrix of which each lane has every 32nd element, counted by rows.
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(detail::exists<Use, m, n, k, T>(),
                "CUDA on the CPU has no wmma::fragment of this shape and type");

 public:
  using element_type = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;
  using storage_element_type = element_type;

  // Not members of CUDA's.
  static constexpr unsigned rows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr unsigned columns = std::is_same_v<Use, matrix_a> ? k : n;
  /// What a product takes of an element.
  static auto operand(element_type value) {
    if constexpr (std::is_same_v<T, precision::tf32>) {
      return __uint_as_float(__float_as_uint(value) & 0xffffe000U);
    } else if constexpr (detail::is_small_float<T>) {
      return static_cast<float>(value);
    } else {
      return value;
    }
  }

  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

}  // namespace nvcuda::wmma
