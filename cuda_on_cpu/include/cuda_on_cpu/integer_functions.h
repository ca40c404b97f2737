/// @file
/// Functions of integers and their bits.
#pragma once

#include <cstdint>
#include <cstdlib>

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128_t>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<__uint128_t>(x) * y >> 64);
}
/// The lowest 24 bits of each, multiplied.
inline int __mul24(int x, int y) {
  const std::int64_t a = static_cast<std::int32_t>(static_cast<unsigned>(x) << 8) >> 8;
  const std::int64_t b = static_cast<std::int32_t>(static_cast<unsigned>(y) << 8) >> 8;
  return static_cast<int>(a * b);
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffU) * (y & 0xffffffU); }
/// |x - y| + z.
inline unsigned __sad(int x, int y, unsigned z) {
  return static_cast<unsigned>(std::llabs(static_cast<long long>(x) - y)) + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
/// Averages; those that begin with r round up.
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
/// Four bytes of the eight of x and y, by four numbers in the selector; 8 added means the sign
/// only.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32U | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned select = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (select & 7U))) & 0xffU;
    if ((select & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0U;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32U | low;
  return static_cast<unsigned>(both << (shift & 31U) >> 32U);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32U | low;
  return static_cast<unsigned>(both >> (shift & 31U));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

namespace cuda_on_cpu {

/// The sum of products of four bytes of each; Byte says what they are.
template <class A, class B>
unsigned dot_product(unsigned a, unsigned b, unsigned sum) {
  for (unsigned i = 0; i < 32; i += 8) {
    sum += static_cast<unsigned>(static_cast<int>(static_cast<A>(a >> i)) * static_cast<int>(static_cast<B>(b >> i)));
  }
  return sum;
}

}  // namespace cuda_on_cpu

inline int __dp4a(int a, int b, int sum) {
  using namespace cuda_on_cpu;
  return static_cast<int>(dot_product<std::int8_t, std::int8_t>(static_cast<unsigned>(a), static_cast<unsigned>(b),
                                                                static_cast<unsigned>(sum)));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return cuda_on_cpu::dot_product<std::uint8_t, std::uint8_t>(a, b, sum);
}
/// The place of the n-th bit that is set, counted from `base`: upwards, or down if n is negative.
inline unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return (mask >> (base & 31U) & 1U) != 0 ? base : 0xffffffffU;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1U) != 0 && --left == 0) return static_cast<unsigned>(i);
  }
  return 0xffffffffU;
}
