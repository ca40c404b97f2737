#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mma.h>

// Functions of the device that can be called by the host as well, at their edges.

namespace cuda_on_cpu {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// By exact comparison with both neighbours, in long double.
template <class T>
T nearest_by_search(long double x) {
  T best = T::of_bits(0);
  long double least = std::fabs(x);
  for (unsigned number = 0; number < 0x10000; ++number) {
    const T candidate = T::of_bits(number);
    const auto value = static_cast<long double>(static_cast<float>(candidate));
    if (!std::isfinite(value)) continue;
    const long double distance = std::fabs(x - value);
    const bool wins_tie = distance == least && (number & 1U) == 0 && (best.bits & 1U) != 0;
    if (distance < least || wins_tie) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

TEST(SmallFloats, EveryNumberComesBack) {
  for (unsigned number = 0; number < 0x10000; ++number) {
    const __half h = __half::of_bits(number);
    const __nv_bfloat16 b = __nv_bfloat16::of_bits(number);
    if (!__hisnan(h)) {
      ASSERT_EQ(__float2half(__half2float(h)).bits, number);
    }
    if (!__hisnan(b)) {
      ASSERT_EQ(__float2bfloat16(__bfloat162float(b)).bits, number);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(__bfloat162float(b)), number << 16U);
    }
  }
}

TEST(SmallFloats, RoundToTheNearestAndTiesToEven) {
  std::mt19937 engine(1);
  for (int i = 0; i < 40; ++i) {
    const double x = std::ldexp(static_cast<double>(engine()) - 2e9, -40 + i % 12);
    ASSERT_EQ(__double2half(x).bits, nearest_by_search<__half>(x).bits) << x;
    ASSERT_EQ(__double2bfloat16(x).bits, nearest_by_search<__nv_bfloat16>(x).bits) << x;
  }
  EXPECT_EQ(__float2half(65519.996F).bits, 0x7bff);
  EXPECT_EQ(__float2half(65520).bits, 0x7c00);
  EXPECT_EQ(__float2half(-65520).bits, 0xfc00);
  EXPECT_EQ(__double2half(std::ldexp(1.0, -25)).bits, 0);
  EXPECT_EQ(__double2half(std::nextafter(std::ldexp(1.0, -25), 1.0)).bits, 1);
  EXPECT_EQ(__double2half(-DBL_TRUE_MIN).bits, 0x8000);
}

TEST(SmallFloats, TheOtherRoundings) {
  EXPECT_EQ(__float2half_rz(1e9F).bits, 0x7bff);
  EXPECT_EQ(__float2half_ru(1e9F).bits, 0x7c00);
  EXPECT_EQ(__float2half_rd(1e9F).bits, 0x7bff);
  EXPECT_EQ(__float2half_rd(-1e9F).bits, 0xfc00);
  EXPECT_EQ(__float2half_ru(FLT_TRUE_MIN).bits, 1);
  EXPECT_EQ(__float2half_rd(FLT_TRUE_MIN).bits, 0);
  EXPECT_EQ(__float2half_rd(-FLT_TRUE_MIN).bits, 0x8001);
  EXPECT_EQ(__ull2half_rn((1ULL << 11U) + 1).bits, __float2half(2048).bits);
  EXPECT_EQ(__half2int_rz(__float2half(-2.5F)), -2);
  EXPECT_EQ(__half2short_rn(__ushort_as_half(0x7c00)), 32767);
  EXPECT_EQ(__half2uint_rn(__ushort_as_half(0x7fff)), 0U);
}

TEST(SmallFloats, AFusedProductIsRoundedOnce) {
  // 1025/1024 squared needs 21 bits; a rounding before the sum would lose what is left.
  const __half x = __ushort_as_half(0x3c01);
  const float exact = __half2float(x) * __half2float(x) - 1.001953125F;
  EXPECT_EQ(__half2float(__hfma(x, x, __float2half(-1.001953125F))), exact);
  // The product lies a little above a tie, which double alone would not show.
  const __half big = __float2half(2049.0F * 16);
  EXPECT_EQ(__hfma(__ushort_as_half(1), __ushort_as_half(1), big).bits, big.bits);
  const __nv_bfloat16 one = __float2bfloat16(1);
  const __nv_bfloat16 half_step = __float2bfloat16(std::ldexp(1.0F, -8));
  const __nv_bfloat16 tiny = __float2bfloat16(std::ldexp(1.0F, -100));
  EXPECT_EQ(__hfma(one, half_step, one).bits, one.bits);
  EXPECT_EQ(__hfma(tiny, one, one + half_step).bits, one.bits);
  EXPECT_EQ(__hfma(one + __float2bfloat16(0.0078125F), half_step, one).bits, one.bits + 1);
}

TEST(SmallFloats, Operations) {
  const __half one = __float2half(1);
  const __half big = __float2half(60000);
  EXPECT_EQ(__half_as_ushort(big + big), 0x7c00);
  EXPECT_EQ(__half_as_ushort(__hsub(big + big, big + big)), 0x7fff);
  EXPECT_EQ(__half_as_ushort(hsqrt(__int2half_rn(2))), 0x3da8);
  EXPECT_EQ(__half_as_ushort(__hadd_sat(one, one)), __half_as_ushort(one));
  EXPECT_FALSE(__hgt(one, big));
  const __nv_bfloat16 more = __float2bfloat16(1.0078125F);
  EXPECT_EQ(__bfloat16_as_ushort(__hmul(more, more)), 0x3f82);
  EXPECT_EQ(__half2ushort_rn(__float2half(2.5F)), 2);
  EXPECT_EQ(__half2int_ru(__float2half(2.25F)), 3);
  const __half2 pair = __floats2half2_rn(1.5F, -2) * __float2half2_rn(2);
  EXPECT_EQ(__low2float(pair), 3);
  EXPECT_EQ(__high2float(pair), -4);
}

TEST(SmallFloats, NaNs) {
  const __half nan = __ushort_as_half(0x7e01);
  const __half one = __float2half(1);
  EXPECT_FALSE(__heq(nan, nan));
  EXPECT_FALSE(__hne(nan, one));
  EXPECT_TRUE(__hneu(nan, one));
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(nan < one);
  EXPECT_EQ(__hmin(nan, one).bits, one.bits);
  EXPECT_EQ(__hmin_nan(nan, one).bits, 0x7fff);
  EXPECT_EQ((nan + one).bits, 0x7fff);
  EXPECT_EQ(__hmax(__float2half(-0.0F), __float2half(0.0F)).bits, 0);
  EXPECT_EQ(__hmin(__float2half(-0.0F), __float2half(0.0F)).bits, 0x8000);
  EXPECT_EQ(__hisinf(__float2half(-infinity)), -1);
}

TEST(Rounding, EnclosesTheExactResult) {
  std::mt19937 engine(1);
  for (int i = 0; i < 1000; ++i) {
    const auto x = std::ldexp(static_cast<float>(engine()) - 2e9F, static_cast<int>(i % 31) - 45);
    const auto y = std::ldexp(static_cast<float>(engine() | 1U) - 2e9F, i % 29 - 45);
    const double exact = static_cast<double>(x) * static_cast<double>(y);
    ASSERT_TRUE(__fmul_rd(x, y) <= exact && exact <= __fmul_ru(x, y));
    ASSERT_LE(std::fabs(__fmul_rz(x, y)), std::fabs(exact));
    ASSERT_TRUE(__fadd_rd(x, y) <= __fadd_rn(x, y) && __fadd_rn(x, y) <= __fadd_ru(x, y));
    ASSERT_TRUE(__fdiv_rd(x, y) <= x / y && x / y <= __fdiv_ru(x, y));
    ASSERT_LE(__fmaf_rd(x, y, 1e-10F), __fmaf_ru(x, y, 1e-10F));
    ASSERT_EQ(__fmaf_rn(x, y, x), std::fma(x, y, x));
    ASSERT_TRUE(__dadd_rd(x, 1e-30) <= x && __dadd_ru(x, 1e-30) > x);
    ASSERT_TRUE(__double2float_rd(exact) <= exact && exact <= __double2float_ru(exact));
  }
}

TEST(Rounding, NeighboursOfTheExactResult) {
  EXPECT_EQ(__fadd_ru(1, 1e-30F), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(__fadd_rd(1, 1e-30F), 1);
  EXPECT_EQ(__fadd_rd(1, -1e-30F), std::nextafter(1.0F, 0.0F));
  EXPECT_EQ(__fadd_rz(-1, 1e-30F), std::nextafter(-1.0F, 0.0F));
  EXPECT_EQ(__fmul_ru(FLT_MIN, FLT_MIN), FLT_TRUE_MIN);
  EXPECT_EQ(__fmul_rz(FLT_MAX, 2), FLT_MAX);
  EXPECT_EQ(__fmul_rz(infinity, 2), infinity);
  EXPECT_EQ(__fdiv_ru(1, 3), std::nextafter(__fdiv_rd(1, 3), 1.0F));
  EXPECT_EQ(__frcp_rd(-3), std::nextafter(__frcp_ru(-3), -1.0F));
  EXPECT_EQ(__fsqrt_rd(4), 2);
  EXPECT_EQ(__fsqrt_ru(4), 2);
  EXPECT_EQ(__dadd_ru(1, 1e-300), std::nextafter(1.0, 2.0));
  EXPECT_EQ(__dmul_rd(1 + DBL_EPSILON, 1 + DBL_EPSILON), 1 + 2 * DBL_EPSILON);
  EXPECT_EQ(__dmul_ru(1 + DBL_EPSILON, 1 + DBL_EPSILON), 1 + 3 * DBL_EPSILON);
  EXPECT_EQ(__fma_ru(1e200, 1e-200, 1e-320), __fma_rd(1e200, 1e-200, 1e-320) + DBL_EPSILON);
}

TEST(Conversions, SaturateAndRound) {
  EXPECT_EQ(__float2int_rn(0.5F), 0);
  EXPECT_EQ(__float2int_rn(1.5F), 2);
  EXPECT_EQ(__float2int_rn(-infinity), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rz(2147483648.0F), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2uint_rn(-0.7F), 0U);
  EXPECT_EQ(__float2ll_rn(NAN), std::numeric_limits<long long>::min());
  EXPECT_EQ(__double2ull_ru(0.1), 1ULL);
  EXPECT_EQ(__uint2float_ru(0xffffffffU), 4294967296.0F);
  EXPECT_EQ(__uint2float_rd(0xffffffffU), 4294967040.0F);
  EXPECT_EQ(__ll2double_rz((1LL << 60U) + 1), std::ldexp(1.0, 60));
  EXPECT_EQ(__float2int_ru(2.1F), 3);
  EXPECT_EQ(__float2int_rd(-0.5F), -1);
  EXPECT_EQ(__float2uint_rz(-5.0F), 0U);
  EXPECT_EQ(__double2ll_rd(-1.5), -2);
  EXPECT_EQ(__double2int_ru(1.25), 2);
  EXPECT_EQ(__int2float_rz(16777217), 16777216.0F);
  EXPECT_EQ(__int2float_ru(16777217), 16777218.0F);
  EXPECT_EQ(__uint2float_rz(0xffffffffU), 4294967040.0F);
  EXPECT_EQ(__uint_as_float(0x40490fdbU), std::bit_cast<float>(0x40490fdbU));
  EXPECT_EQ(__hiloint2double(__double2hiint(1.75), __double2loint(1.75)), 1.75);
}

TEST(Functions, SpecialValues) {
  EXPECT_EQ(sinpi(1e15), 0);
  EXPECT_EQ(sinpi(-0.5), -1);
  EXPECT_EQ(sinpi(1.5), -1);
  EXPECT_EQ(cospi(0.5), 0);
  EXPECT_EQ(cospi(3.0), -1);
  EXPECT_EQ(erfinv(1.0), infinity);
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  for (const double x : {1e-10, 0.1, 0.49, 0.51, 0.9, 0.999999}) {
    EXPECT_NEAR(std::erf(erfinv(x)), x, 4e-16);
    EXPECT_NEAR(erfinv(-x), -erfinv(x), 0);
  }
  for (const double x : {1e-200, 1e-20, 0.01, 1.0, 1.7}) {
    EXPECT_NEAR(std::erfc(erfcinv(x)) / x, 1, 1e-13) << x;
  }
  EXPECT_NEAR(erfcx(30.0), 0.018795888861416751, 1e-10);
  EXPECT_EQ(sinpif(2.0F), 0);
  float sine = 2;
  float cosine = 2;
  sincosf(0.0F, &sine, &cosine);
  EXPECT_EQ(sine + cosine, 1);
  sincospif(0.5F, &sine, &cosine);
  EXPECT_EQ(sine + cosine, 1);
  EXPECT_DOUBLE_EQ(exp10(3.0), 1000);
  EXPECT_FLOAT_EQ(exp10f(2.0F), 100);
  EXPECT_FLOAT_EQ(__expf(1.0F), 2.7182818F);
  EXPECT_NEAR(normcdfinv(normcdf(0.3)), 0.3, 1e-12);
  EXPECT_EQ(rsqrt(4.0), 0.5);
  EXPECT_FLOAT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_FLOAT_EQ(rcbrtf(8.0F), 0.5F);
  EXPECT_DOUBLE_EQ(rhypot(3.0, 4.0), 0.2);
  EXPECT_DOUBLE_EQ(norm3d(2.0, 3.0, 6.0), 7);
  EXPECT_NEAR(cyl_bessel_i0f(1.0F), 1.266066, 1e-6);
  EXPECT_NEAR(cyl_bessel_i1(-1.0), -0.565159, 1e-6);
  EXPECT_EQ(__saturatef(1.5F) + __saturatef(-2.0F) + __saturatef(0.25F), 1.25F);
  EXPECT_EQ(__fdividef(6.0F, 4.0F) + __frcp_rn(4.0F) + __fsqrt_rn(9.0F), 4.75F);
  EXPECT_LE(__ddiv_rz(1.0, 3.0), 1.0 / 3.0);
  EXPECT_EQ(nvcuda::wmma::__float_to_tf32(1.00048828125F), 1.0009765625F);  // ties go away from 0
}

TEST(Vectors, AreAlignedAsOnADevice) {
  EXPECT_EQ(alignof(float4), 16U);
  EXPECT_EQ(alignof(float2), 8U);
  EXPECT_EQ(alignof(float3), 4U);
  EXPECT_EQ(sizeof(double4), 32U);
}

/// The sum of the products of four bytes each.
template <class Byte, class T>
T dot(std::uint32_t x, std::uint32_t y, T sum) {
  for (unsigned at = 0; at < 32; at += 8)
    sum += static_cast<Byte>(x >> at) * static_cast<Byte>(y >> at);
  return sum;
}

__extension__ using Wide = unsigned __int128;

TEST(Integers, AgreeWithPlainCode) {
  std::mt19937 engine(1);
  std::vector<std::uint32_t> numbers{0, 0, 0x80000000U, 0xffffffffU, 1, 0x7fffffffU};
  for (int i = 0; i < 100; ++i) numbers.push_back(static_cast<std::uint32_t>(engine()));
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const std::uint32_t x = numbers[i];
    const std::uint32_t y = numbers[i + 1];
    const auto a = static_cast<std::int32_t>(x);
    const auto b = static_cast<std::int32_t>(y);
    const std::int64_t wide_a = a;
    const std::int64_t wide_b = b;
    const std::uint64_t xy = std::uint64_t{x} << 32U | y;
    SCOPED_TRACE(testing::Message() << x << ", " << y);
    EXPECT_EQ(__mul24(a, b), static_cast<int>(((a << 8) >> 8) * std::int64_t{(b << 8) >> 8}));
    EXPECT_EQ(__umul24(x, y), (x & 0xffffffU) * (y & 0xffffffU));
    EXPECT_EQ(__mulhi(a, b), static_cast<int>((wide_a * wide_b) >> 32));
    EXPECT_EQ(__umulhi(x, y), static_cast<std::uint32_t>((std::uint64_t{x} * y) >> 32U));
    EXPECT_EQ(__umul64hi(xy, ~xy),
              static_cast<std::uint64_t>((static_cast<Wide>(xy) * ~xy) >> 64U));
    EXPECT_EQ(__sad(a, b, 7U), static_cast<std::uint32_t>(std::abs(wide_a - wide_b)) + 7U);
    EXPECT_EQ(__usad(x, y, 7U), std::max(x, y) - std::min(x, y) + 7U);
    EXPECT_EQ(__hadd(a, b), static_cast<int>((wide_a + wide_b) >> 1));
    EXPECT_EQ(__dp4a(a, b, 100), (dot<std::int8_t, int>(x, y, 100)));
    EXPECT_EQ(__dp4a(x, y, 100U), (dot<std::uint8_t, unsigned>(x, y, 100U)));
    EXPECT_EQ(__popc(x), std::popcount(x));
    EXPECT_EQ(__popcll(xy), std::popcount(xy));
    EXPECT_EQ(__clz(a), std::countl_zero(x));
    EXPECT_EQ(__clzll(static_cast<long long>(xy)), std::countl_zero(xy));
    EXPECT_EQ(__ffs(a), x == 0 ? 0 : std::countr_zero(x) + 1);
    EXPECT_EQ(__ffsll(static_cast<long long>(xy)), xy == 0 ? 0 : std::countr_zero(xy) + 1);
    for (unsigned at = 0; at < 32; ++at) ASSERT_EQ(__brev(x) >> at & 1U, x >> (31 - at) & 1U);
    EXPECT_EQ(__brevll(xy), std::uint64_t{__brev(y)} << 32U | __brev(x));
    EXPECT_EQ(__funnelshift_l(x, y, 9), y << 9U | x >> 23U);
    EXPECT_EQ(__funnelshift_r(x, y, 9 + 32), x >> 9U | y << 23U);
    EXPECT_EQ(umax(x, y), std::max(x, y));
    EXPECT_EQ(llmax(a, b), std::max(wide_a, wide_b));
  }
  EXPECT_EQ(__byte_perm(0x03020100, 0x07060504, 0x5140), 0x05010400U);
  EXPECT_EQ(__byte_perm(0x80, 0, 0x8888), 0xffffffffU);
  EXPECT_EQ(__funnelshift_lc(1, 2, 40), 1U);
  EXPECT_EQ(__fns(0xb0, 0, 2), 5U);
  EXPECT_EQ(__fns(0xb0, 7, -2), 5U);
  EXPECT_EQ(__fns(0xb0, 7, 2), 0xffffffffU);
}

}  // namespace
}  // namespace cuda_on_cpu
