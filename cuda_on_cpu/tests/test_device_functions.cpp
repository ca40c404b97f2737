#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

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
T nearest_by_search(long double x, std::uint16_t (*bits)(T), T (*of_bits)(std::uint16_t)) {
  T best = of_bits(0);
  long double least = std::fabs(x);
  for (unsigned number = 0; number < 0x10000; ++number) {
    const T candidate = of_bits(static_cast<std::uint16_t>(number));
    const auto value = static_cast<long double>(static_cast<float>(candidate));
    if (!std::isfinite(value)) continue;
    const long double distance = std::fabs(x - value);
    const bool wins_tie = distance == least && (number & 1U) == 0 && (bits(best) & 1U) != 0;
    if (distance < least || wins_tie) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::uint16_t half_bits(__half x) {
  return x.bits;
}
std::uint16_t bfloat_bits(__nv_bfloat16 x) {
  return x.bits;
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
    }
    if (!__hisnan(b)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(__bfloat162float(b)), number << 16U);
    }
  }
}

TEST(SmallFloats, RoundToTheNearestAndTiesToEven) {
  std::mt19937 engine(1);
  for (int i = 0; i < 40; ++i) {
    const double x = std::ldexp(static_cast<double>(engine()) - 2e9, -40 + i % 12);
    const auto to_half = [](std::uint16_t bits) { return __half::of_bits(bits); };
    const auto to_bfloat = [](std::uint16_t bits) { return __nv_bfloat16::of_bits(bits); };
    ASSERT_EQ(__double2half(x).bits, nearest_by_search<__half>(x, half_bits, to_half).bits) << x;
    ASSERT_EQ(__double2bfloat16(x).bits,
              nearest_by_search<__nv_bfloat16>(x, bfloat_bits, to_bfloat).bits)
        << x;
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
  EXPECT_EQ(__byte_perm(0x80, 0, 0x8888), 0xffffffffU);
  EXPECT_EQ(__funnelshift_lc(1, 2, 40), 1U);
  EXPECT_EQ(__fns(0xb0, 0, 2), 5U);
  EXPECT_EQ(__fns(0xb0, 7, -2), 5U);
  EXPECT_EQ(__fns(0xb0, 7, 2), 0xffffffffU);
  EXPECT_EQ(nvcuda::wmma::__float_to_tf32(1.00048828125F), 1.0009765625F);  // ties go away from 0
}

}  // namespace
}  // namespace cuda_on_cpu
