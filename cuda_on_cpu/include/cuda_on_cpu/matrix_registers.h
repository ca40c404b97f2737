/// @file
/// Behind `mma.sync`: products of small matrices whose elements lie in the registers of a warp's
/// lanes, as PTX distributes them (PTX ISA, "Matrix fragments for mma").
///
/// With g = lane / 4 and t = lane % 4, a register of 32 bits holds P = 1, 2 or 4 neighbouring
/// elements along k. Register r of A has row g (if the matrix has 16 rows, g + 8 where r is odd)
/// and the elements from step t P on, of group r (or r / 2) of 4 P steps; B likewise, with column
/// g. A lane has columns 2 t and 2 t + 1 of the result, in row g and, of 16, in row g + 8.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda_on_cpu/lane_group.h"
#include "cuda_on_cpu/small_float.h"

namespace cuda_on_cpu {

// Elements of factors that are no type of C++: 8 bytes, or a few to a register of 32 bits.
struct Binary64 {};
struct Tensor32 {};  ///< a float of which 10 bits of the fraction count
struct Signed8 {};
struct Unsigned8 {};

/// How many elements of a factor a register holds.
template <class Element>
constexpr unsigned elements_in_register = 1;
template <>
inline constexpr unsigned elements_in_register<Binary16> = 2;
template <>
inline constexpr unsigned elements_in_register<Brain16> = 2;
template <>
inline constexpr unsigned elements_in_register<Signed8> = 4;
template <>
inline constexpr unsigned elements_in_register<Unsigned8> = 4;

/// Element number `i` of a register.
template <class Element>
auto element_of(std::uint64_t bits, unsigned i) {
  const auto word = static_cast<std::uint32_t>(bits);
  if constexpr (std::is_same_v<Element, Binary64>) {
    return from_bits<double>(bits);
  } else if constexpr (std::is_same_v<Element, Tensor32>) {
    return from_bits<float>(word & 0xffffe000U);
  } else if constexpr (std::is_same_v<Element, Signed8>) {
    return static_cast<int>(static_cast<std::int8_t>(word >> 8U * i));
  } else if constexpr (std::is_same_v<Element, Unsigned8>) {
    return static_cast<int>(static_cast<std::uint8_t>(word >> 8U * i));
  } else {
    return decode<Element>(static_cast<std::uint16_t>(word >> 16U * i));
  }
}

/// What a lane gives to a product, and where its results go.
struct MatrixRegisters {
  std::array<void*, 4> results{};
  std::array<std::uint64_t, 8> a{};
  std::array<std::uint64_t, 8> b{};
  std::array<std::uint64_t, 8> c{};
};

template <class... Registers>
std::array<void*, 4> results(Registers&... registers) {
  return {&registers...};
}
template <class... Registers>
std::array<std::uint64_t, 8> registers(const Registers&... registers) {
  return {to_bits(registers)...};
}

/// The sum number `i`, of 2 or 4, in the registers of a lane.
template <class Sum>
auto sum_of(const std::array<std::uint64_t, 8>& registers, unsigned i) {
  if constexpr (std::is_same_v<Sum, Binary16>) {
    return element_of<Binary16>(registers[i / 2], i % 2);
  } else {
    return from_bits<Sum>(registers[i]);
  }
}
template <class Sum, class Value>
void set_sum(const std::array<void*, 4>& registers, unsigned i, Value value) {
  if constexpr (std::is_same_v<Sum, Binary16>) {
    const std::uint16_t bits = encode<Binary16>(value);
    __builtin_memcpy(static_cast<char*>(registers[i / 2]) + 2 * (i % 2), &bits, sizeof bits);
  } else {
    __builtin_memcpy(registers[i], &value, sizeof value);
  }
}

/// The exchange in which the last lane to come computes the product for all, each element by one
/// chain of fused multiply-adds.
template <unsigned m, unsigned n, unsigned k, class Element, class Sum>
void multiply_registers(Lane* lanes, unsigned /*mask*/) {
  constexpr unsigned held = elements_in_register<Element>;
  constexpr unsigned groups = m / 8;  // of rows
  MatrixRegisters* of[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    of[lane] = from_bits<MatrixRegisters*>(lanes[lane].value);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2 * groups; ++i) {
      const unsigned row = lane / 4;  // of its group
      const unsigned column = 2 * (lane % 4) + i % 2;
      auto sum = sum_of<Sum>(of[lane]->c, i);
      for (unsigned step = 0; step < k; ++step) {
        const unsigned chunk = step / (4 * held);
        const unsigned t = step / held % 4;
        const auto a = element_of<Element>(of[4 * row + t]->a[chunk * groups + i / 2], step % held);
        const auto b = element_of<Element>(of[4 * column + t]->b[chunk], step % held);
        if constexpr (std::is_integral_v<decltype(sum)>) {
          sum = static_cast<decltype(sum)>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(a * b));
        } else {
          sum = std::fma(a, b, sum);
        }
      }
      set_sum<Sum>(of[lane]->results, i, sum);
    }
  }
}

/// `mma.sync.aligned.mMnNkK.row.col`: all lanes of the warp call it.
template <unsigned m, unsigned n, unsigned k, class Element, class Sum>
void multiply_matrices(const std::array<void*, 4>& results, const std::array<std::uint64_t, 8>& a,
                       const std::array<std::uint64_t, 8>& b, const std::array<std::uint64_t, 8>& c, CUDA_ON_CPU_HERE) {
  static_assert(n == 8);
  MatrixRegisters own = {results, a, b, c};
  if (lanes_of_own_warp() != full_warp) {
    fail_kernel("mma.sync needs a warp's 32 lanes, but the last warp of this block has fewer.", place);
  }
  exchange(full_warp, to_bits(&own), 0, multiply_registers<m, n, k, Element, Sum>, "mma.sync", place);
}

}  // namespace cuda_on_cpu
