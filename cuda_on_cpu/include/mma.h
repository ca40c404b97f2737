/// @file
/// nvcuda::wmma: products of small matrices by a warp, which a GPU has tensor cores for.
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
  const bool is_shape = k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  if (!sums) return is_shape && (is_byte<T> || is_small_float<T>);
  return is_shape && (std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, int>);
}

/// Whether products of T are added up in Sum.
template <class T, class Sum>
constexpr bool is_sum_of = std::is_same_v<T, double> ? std::is_same_v<Sum, double>
                           : is_byte<T>              ? std::is_same_v<Sum, int>
                                                     : std::is_same_v<Sum, float> ||
                                              (std::is_same_v<T, __half> && std::is_same_v<Sum, __half>);

}  // namespace detail

/// A matrix of which each lane has every 32nd element, counted by rows.
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(detail::exists<Use, m, n, k, T>(), "CUDA on the CPU has no wmma::fragment of this shape and type");

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

namespace detail {

using cuda_on_cpu::Lane;
using cuda_on_cpu::Place;

/// Waits for all lanes of the warp.
inline void all_lanes(const char* what, Place place) {
  using namespace cuda_on_cpu;
  if (lanes_of_own_warp() != full_warp) {
    fail_kernel(
        "a warp's matrix functions need its 32 lanes, but the last warp of this block has "
        "fewer.",
        place);
  }
  exchange(full_warp, 0, 0, only_wait, what, place);
}
/// Checks the stride, waits for all lanes, then calls function(element, offset in memory) for the
/// elements of the own.
/// @param bytes of an element in memory.
template <class Fragment, class Function>
void for_elements(const char* what, bool is_row_major, unsigned stride, std::size_t bytes, Place place,
                  const Function& function) {
  if (stride * bytes % 16 != 0) {
    cuda_on_cpu::fail_kernel("the rows or columns of a matrix of wmma must be a multiple of 16 bytes apart.", place);
  }
  all_lanes(what, place);
  for (unsigned i = 0; i < Fragment::num_elements; ++i) {
    const unsigned number = i * 32 + cuda_on_cpu::own_lane();
    const unsigned row = number / Fragment::columns;
    const unsigned column = number % Fragment::columns;
    function(i, is_row_major ? std::size_t{row} * stride + column : std::size_t{column} * stride + row);
  }
}

/// What a lane gives to a product.
template <class D, class A, class B, class C>
struct Operands {
  D* d;
  const A* a;
  const B* b;
  const C* c;
  bool saturate;
};

/// The element of a matrix that is distributed over the lanes.
template <class Fragment, class Operand, class Lanes>
auto element(const Lanes* lanes, Operand operand, unsigned row, unsigned column) {
  const unsigned number = row * Fragment::columns + column;
  return (lanes[number % 32].*operand)->x[number / 32];
}

/// One element of the result: in float, in int or, of doubles, in double.
template <class D, class A, class B, class C>
auto product(const Operands<D, A, B, C>* lanes, unsigned row, unsigned column) {
  using All = Operands<D, A, B, C>;
  const auto start = element<C>(lanes, &All::c, row, column);
  if constexpr (std::is_same_v<decltype(start), const int>) {
    long long sum = 0;
    for (unsigned k = 0; k < A::columns; ++k) {
      sum += element<A>(lanes, &All::a, row, k) * element<B>(lanes, &All::b, k, column);
    }
    sum += start;
    return lanes[0].saturate ? static_cast<int>(std::clamp(sum, -(1LL << 31), (1LL << 31) - 1)) : static_cast<int>(sum);
  } else {
    using Sum = std::conditional_t<std::is_same_v<typename D::element_type, double>, double, float>;
    Sum sum = static_cast<Sum>(start);
    for (unsigned k = 0; k < A::columns; ++k) {
      sum = std::fma(A::operand(element<A>(lanes, &All::a, row, k)), B::operand(element<B>(lanes, &All::b, k, column)),
                     sum);
    }
    return sum;
  }
}

/// The exchange in which the last lane to come computes the product for all.
template <class D, class A, class B, class C>
void multiply(Lane* lanes, unsigned mask) {
  Operands<D, A, B, C> operands[32];
  cuda_on_cpu::for_lanes(mask, [&](unsigned lane) {
    operands[lane] = *cuda_on_cpu::from_bits<const Operands<D, A, B, C>*>(lanes[lane].value);
  });
  // The result may be the summand, so it is written when all of it is there.
  decltype(product(operands, 0, 0)) results[D::rows * D::columns];
  for (unsigned i = 0; i < D::rows * D::columns; ++i) {
    results[i] = product(operands, i / D::columns, i % D::columns);
  }
  for (unsigned i = 0; i < D::rows * D::columns; ++i) {
    operands[i % 32].d->x[i / 32] = static_cast<typename D::element_type>(results[i]);
  }
}

}  // namespace detail

/// All elements become the value.
template <class Use, int m, int n, int k, class T, class Layout, class Value>
void fill_fragment(fragment<Use, m, n, k, T, Layout>& fragment, const Value& value) {
  using Element = typename wmma::fragment<Use, m, n, k, T, Layout>::element_type;
  for (unsigned i = 0; i < fragment.num_elements; ++i) fragment.x[i] = static_cast<Element>(value);
}

/// Loads an operand, whose layout belongs to its type.
template <class Use, int m, int n, int k, class T, class Layout, class Memory>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& fragment, const Memory* from, unsigned stride,
                      CUDA_ON_CPU_HERE) {
  using Fragment = wmma::fragment<Use, m, n, k, T, Layout>;
  static_assert(!std::is_void_v<Layout>, "an accumulator is loaded with a layout");
  detail::for_elements<Fragment>("load_matrix_sync", std::is_same_v<Layout, row_major>, stride, sizeof(Memory), place,
                                 [&](unsigned i, std::size_t offset) { fragment.x[i] = from[offset]; });
}
/// Loads an accumulator.
template <int m, int n, int k, class T>
void load_matrix_sync(fragment<accumulator, m, n, k, T>& fragment, const T* from, unsigned stride, layout_t layout,
                      CUDA_ON_CPU_HERE) {
  detail::for_elements<wmma::fragment<accumulator, m, n, k, T>>(
      "load_matrix_sync", layout == mem_row_major, stride, sizeof(T), place,
      [&](unsigned i, std::size_t offset) { fragment.x[i] = from[offset]; });
}
template <int m, int n, int k, class T>
void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& fragment, unsigned stride, layout_t layout,
                       CUDA_ON_CPU_HERE) {
  detail::for_elements<wmma::fragment<accumulator, m, n, k, T>>(
      "store_matrix_sync", layout == mem_row_major, stride, sizeof(T), place,
      [&](unsigned i, std::size_t offset) { to[offset] = fragment.x[i]; });
}

/// d = a * b + c.
template <int m, int n, int k, class A, class B, class C, class D, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, A, LayoutA>& a,
              const fragment<matrix_b, m, n, k, B, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
              bool saturate = false, CUDA_ON_CPU_HERE) {
  static_assert(std::is_same_v<A, B>, "both operands of mma_sync() have the same type");
  static_assert(detail::is_sum_of<A, C> && detail::is_sum_of<A, D>,
                "mma_sync() has no accumulator of this type for such operands");
  using namespace cuda_on_cpu;
  using FragmentD = fragment<accumulator, m, n, k, D>;
  using FragmentA = fragment<matrix_a, m, n, k, A, LayoutA>;
  using FragmentB = fragment<matrix_b, m, n, k, B, LayoutB>;
  using FragmentC = fragment<accumulator, m, n, k, C>;
  using All = detail::Operands<FragmentD, FragmentA, FragmentB, FragmentC>;
  const All operands{&d, &a, &b, &c, saturate};
  if (lanes_of_own_warp() != full_warp) detail::all_lanes("mma_sync", place);
  exchange(full_warp, to_bits(&operands), 0, detail::multiply<FragmentD, FragmentA, FragmentB, FragmentC>, "mma_sync",
           place);
}

/// Rounded to the 10 bits of fraction that tensor cores take of a float.
inline float __float_to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  return __uint_as_float((__float_as_uint(x) + 0x1000U) & 0xffffe000U);
}

}  // namespace nvcuda::wmma
