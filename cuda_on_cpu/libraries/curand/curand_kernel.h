/// @file
/// cuRAND's functions for kernels, of the generators XORWOW, Philox4x32-10 and MRG32k3a: the same numbers as on a GPU
/// for the same seed, subsequence and offset. The generators: G. Marsaglia, "Xorshift RNGs", Journal of Statistical
/// Software 8 (2003); J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); P. L'Ecuyer, "Good
/// parameters and implementations for combined multiple recursive random number generators" (1999).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#define QUALIFIERS static inline __host__ __device__

/// What all states end with: the second of two normally distributed numbers, until it is asked for.
struct cuda_on_cpu_kept_normal {
  int boxmuller_flag = 0;
  int boxmuller_flag_double = 0;
  float boxmuller_extra = 0;
  double boxmuller_extra_double = 0;
};
struct curandStateXORWOW : cuda_on_cpu_kept_normal {
  unsigned int d, v[5];
};
struct curandStatePhilox4_32_10 : cuda_on_cpu_kept_normal {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
};
struct curandStateMRG32k3a : cuda_on_cpu_kept_normal {
  unsigned int s1[3], s2[3];
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace cuda_on_cpu::random {

// ------------------------------------------------------------------------------------------- XORWOW

using Bits = std::array<std::uint32_t, 5>;
/// What a number of steps makes of each bit of v: a matrix over the numbers 0 and 1.
using BitMatrix = std::array<Bits, 160>;

__attribute__((no_sanitize("thread"))) inline Bits product(const BitMatrix& matrix, const Bits& bits) {
  Bits sum{};
  for (unsigned i = 0; i < 160; ++i) {
    if ((bits[i / 32] >> i % 32 & 1U) == 0) continue;
    for (unsigned j = 0; j < 5; ++j) sum[j] ^= matrix[i][j];
  }
  return sum;
}

inline Bits one_step(const Bits& v) {
  const std::uint32_t t = v[0] ^ v[0] >> 2U;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4U ^ t ^ t << 1U};
}

/// The matrices of 2^0, 2^1, ... steps, up to those that the last bit of a subsequence's number skips.
inline constexpr unsigned steps_of_subsequence = 67;
struct XorwowPowers {
  BitMatrix of[steps_of_subsequence + 64];

  __attribute__((no_sanitize("thread"))) XorwowPowers() {
    for (unsigned i = 0; i < 160; ++i) {
      Bits bit{};
      bit[i / 32] = 1U << i % 32;
      of[0][i] = one_step(bit);
    }
    for (unsigned power = 1; power < steps_of_subsequence + 64; ++power) {
      for (unsigned i = 0; i < 160; ++i) of[power][i] = product(of[power - 1], of[power - 1][i]);
    }
  }
};

/// n times 2^first steps.
__attribute__((no_sanitize("thread"))) inline void skip(curandStateXORWOW& state, unsigned long long n,
                                                        unsigned first) {
  // Not by new: the host may come here first, and kernels cannot read what it has allocated.
  static const XorwowPowers powers;
  Bits bits{};
  for (unsigned j = 0; j < 5; ++j) bits[j] = state.v[j];
  for (unsigned power = first; n != 0; n >>= 1U, ++power) {
    if ((n & 1U) != 0) bits = product(powers.of[power], bits);
  }
  for (unsigned j = 0; j < 5; ++j) state.v[j] = bits[j];
}

// ------------------------------------------------------------------------------------------- Philox

inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter.x;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter.z;
    counter = make_uint4(static_cast<unsigned>(second >> 32U) ^ counter.y ^ key.x, static_cast<unsigned>(second),
                         static_cast<unsigned>(first >> 32U) ^ counter.w ^ key.y, static_cast<unsigned>(first));
    key.x += 0x9E3779B9U;
    key.y += 0xBB67AE85U;
  }
  return counter;
}

/// Adds to the lower or, for subsequences, to the upper half of the counter.
inline void advance(curandStatePhilox4_32_10& state, unsigned long long n, bool is_upper) {
  const unsigned long long upper = std::uint64_t{state.ctr.w} << 32U | state.ctr.z;
  const unsigned long long lower = std::uint64_t{state.ctr.y} << 32U | state.ctr.x;
  const unsigned long long new_lower = is_upper ? lower : lower + n;
  const unsigned long long new_upper = is_upper ? upper + n : upper + (new_lower < lower ? 1 : 0);
  state.ctr = make_uint4(static_cast<unsigned>(new_lower), static_cast<unsigned>(new_lower >> 32U),
                         static_cast<unsigned>(new_upper), static_cast<unsigned>(new_upper >> 32U));
  state.output = philox(state.ctr, state.key);
}

// ----------------------------------------------------------------------------------------- MRG32k3a

inline constexpr std::uint64_t modulus[2] = {4294967087U, 4294944443U};
using Matrix3 = std::array<std::array<std::uint64_t, 3>, 3>;
/// One step of each of the two parts.
inline constexpr Matrix3 mrg_step[2] = {{{{0, 1, 0}, {0, 0, 1}, {modulus[0] - 810728, 1403580, 0}}},
                                        {{{0, 1, 0}, {0, 0, 1}, {modulus[1] - 1370589, 0, 527612}}}};

inline Matrix3 product(const Matrix3& a, const Matrix3& b, std::uint64_t m) {
  Matrix3 c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[i][j] = (c[i][j] + a[i][k] * b[k][j] % m) % m;
  return c;
}

inline void multiply(const Matrix3& a, unsigned int* s, std::uint64_t m) {
  const std::uint64_t before[3] = {s[0], s[1], s[2]};
  for (int i = 0; i < 3; ++i)
    s[i] = static_cast<unsigned>((a[i][0] * before[0] % m + a[i][1] * before[1] % m + a[i][2] * before[2] % m) % m);
}

inline void skip(curandStateMRG32k3a& state, unsigned long long n, unsigned first) {
  for (int part = 0; part < 2; ++part) {
    Matrix3 power = mrg_step[part];
    for (unsigned i = 0; i < first; ++i) power = product(power, power, modulus[part]);
    for (unsigned long long left = n; left != 0; left >>= 1U, power = product(power, power, modulus[part]))
      if ((left & 1U) != 0) multiply(power, part == 0 ? state.s1 : state.s2, modulus[part]);
  }
}

inline double next(curandStateMRG32k3a& state) {
  multiply(mrg_step[0], state.s1, modulus[0]);
  multiply(mrg_step[1], state.s2, modulus[1]);
  const double difference = static_cast<double>(state.s1[2]) - state.s2[2];
  return difference <= 0 ? difference + static_cast<double>(modulus[0]) : difference;
}
inline constexpr double mrg_unit = 2.3283065498378288e-10;  // 1 / (modulus[0] + 1)

// ----------------------------------------------------------------------------------- distributions

inline constexpr float unit = 2.3283064e-10F;              // 2^-32
inline constexpr double unit_53 = 1.1102230246251565e-16;  // 2^-53

inline float uniform(unsigned x) { return static_cast<float>(x) * unit + unit / 2; }
inline double uniform_53(unsigned x, unsigned y) {
  const std::uint64_t bits = x ^ std::uint64_t{y} << (53U - 32U);
  return static_cast<double>(bits) * unit_53 + unit_53 / 2;
}

inline float2 polar(float u, float angle) {
  const float radius = sqrtf(-2 * logf(u));
  return make_float2(sinf(angle) * radius, cosf(angle) * radius);
}
inline double2 polar(double u, double half_turns) {
  const double radius = sqrt(-2 * log(u));
  return make_double2(sinpi(half_turns) * radius, cospi(half_turns) * radius);
}
/// Two normally distributed numbers of two or four uniform ones (Box and Muller).
inline float2 box_muller(unsigned x, unsigned y) {
  constexpr float turn = unit * 6.2831855F;
  return polar(uniform(x), static_cast<float>(y) * turn + turn / 2);
}
inline double2 box_muller(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  return polar(uniform_53(x0, x1), 2 * uniform_53(y0, y1));
}

template <class State>
inline constexpr bool is_state = std::is_base_of_v<cuda_on_cpu_kept_normal, State>;
template <class State>
inline constexpr bool is_philox = std::is_same_v<State, curandStatePhilox4_32_10>;
template <class State>
inline constexpr bool is_mrg = std::is_same_v<State, curandStateMRG32k3a>;
/// Functions of all states.
template <class State, class Result>
using Of = std::enable_if_t<is_state<State>, Result>;
/// Functions of four numbers, of Philox alone.
template <class State, class Result>
using OfPhilox = std::enable_if_t<is_philox<State>, Result>;

}  // namespace cuda_on_cpu::random

// ----------------------------------------------------------------------- states, and steps in them

inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
  cuda_on_cpu::random::skip(*state, n, 0);
  state->d += 362437U * static_cast<unsigned>(n);
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  cuda_on_cpu::random::skip(*state, n, cuda_on_cpu::random::steps_of_subsequence);
}
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  state->STATE += static_cast<unsigned>(n & 3U);
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  cuda_on_cpu::random::advance(*state, n, false);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  cuda_on_cpu::random::advance(*state, n, true);
}
inline void skipahead(unsigned long long n, curandStateMRG32k3a* state) { cuda_on_cpu::random::skip(*state, n, 0); }
inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) {
  cuda_on_cpu::random::skip(*state, n, 76);
}
inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* state) {
  cuda_on_cpu::random::skip(*state, n, 127);
}

inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW* state) {
  const unsigned t0 = 1099087573U * (static_cast<unsigned>(seed) ^ 0xaad26b49U);
  const unsigned t1 = 2591861531U * (static_cast<unsigned>(seed >> 32U) ^ 0xf7dcefddU);
  *state = {{}, 6615241U + t1 + t0, {123456789U + t0, 362436069U ^ t0, 521288629U + t1, 88675123U ^ t1, 5783321U + t0}};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
  *state = {{}, {}, {}, {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32U)}, 0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateMRG32k3a* state) {
  *state = {{}, {12345, 12345, 12345}, {12345, 12345, 12345}};
  const std::uint64_t x[2] = {static_cast<unsigned>(seed) ^ 0x55555555U,
                              static_cast<unsigned>(seed >> 32U) ^ 0xAAAAAAAAU};
  for (unsigned i = 0; i < 3 && seed != 0; ++i) {
    state->s1[i] = static_cast<unsigned>(x[i % 2] * state->s1[i] % cuda_on_cpu::random::modulus[0]);
    state->s2[i] = static_cast<unsigned>(x[(i + 1) % 2] * state->s2[i] % cuda_on_cpu::random::modulus[1]);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}

// ----------------------------------------------------------------------------------------- numbers

inline unsigned int curand(curandStateXORWOW* state) {
  const unsigned t = state->v[0] ^ state->v[0] >> 2U;
  for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
  state->v[4] = state->v[3] ^ state->v[3] << 4U ^ t ^ t << 1U;
  state->d += 362437U;
  return state->v[4] + state->d;
}
inline unsigned int curand(curandStatePhilox4_32_10* state) {
  const unsigned numbers[4] = {state->output.x, state->output.y, state->output.z, state->output.w};
  const unsigned result = numbers[state->STATE++];
  if (state->STATE == 4) {
    cuda_on_cpu::random::advance(*state, 1, false);
    state->STATE = 0;
  }
  return result;
}
inline unsigned int curand(curandStateMRG32k3a* state) {
  return static_cast<unsigned>(cuda_on_cpu::random::next(*state) * 1.000000048662);
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 now = state->output;
  cuda_on_cpu::random::advance(*state, 1, false);
  const uint4 then = state->output;
  const unsigned numbers[7] = {now.x, now.y, now.z, now.w, then.x, then.y, then.z};
  const unsigned* const first = numbers + state->STATE;
  return make_uint4(first[0], first[1], first[2], first[3]);
}

/// In (0, 1].
template <class State>
cuda_on_cpu::random::Of<State, float> curand_uniform(State* state) {
  if constexpr (cuda_on_cpu::random::is_mrg<State>)
    return static_cast<float>(cuda_on_cpu::random::next(*state) * cuda_on_cpu::random::mrg_unit);
  else
    return cuda_on_cpu::random::uniform(curand(state));
}
template <class State>
cuda_on_cpu::random::Of<State, double> curand_uniform_double(State* state) {
  using namespace cuda_on_cpu::random;  // NOLINT(google-build-using-namespace)
  if constexpr (is_mrg<State>) {
    return next(*state) * mrg_unit;
  } else if constexpr (is_philox<State>) {
    constexpr double unit_32 = 2.3283064365386963e-10;
    return curand(state) * unit_32 + unit_32;
  } else {
    const unsigned x = curand(state);
    return uniform_53(x, curand(state));
  }
}
template <class State>
cuda_on_cpu::random::OfPhilox<State, float4> curand_uniform4(State* state) {
  using cuda_on_cpu::random::uniform;
  const uint4 x = curand4(state);
  return make_float4(uniform(x.x), uniform(x.y), uniform(x.z), uniform(x.w));
}
template <class State>
cuda_on_cpu::random::OfPhilox<State, double2> curand_uniform2_double(State* state) {
  const uint4 x = curand4(state);
  return make_double2(cuda_on_cpu::random::uniform_53(x.x, x.y), cuda_on_cpu::random::uniform_53(x.z, x.w));
}

template <class State>
cuda_on_cpu::random::Of<State, float2> curand_normal2(State* state) {
  if constexpr (cuda_on_cpu::random::is_mrg<State>) {
    const float u = curand_uniform(state);
    return cuda_on_cpu::random::polar(u, curand_uniform(state) * 6.2831855F);
  } else {
    const unsigned x = curand(state);
    return cuda_on_cpu::random::box_muller(x, curand(state));
  }
}
template <class State>
cuda_on_cpu::random::Of<State, double2> curand_normal2_double(State* state) {
  if constexpr (cuda_on_cpu::random::is_mrg<State>) {
    const double u = curand_uniform_double(state);
    return cuda_on_cpu::random::polar(u, curand_uniform_double(state) * 2);
  } else if constexpr (cuda_on_cpu::random::is_philox<State>) {
    const uint4 x = curand4(state);
    return cuda_on_cpu::random::box_muller(x.x, x.y, x.z, x.w);
  } else {
    unsigned x[4];
    for (unsigned& each : x) each = curand(state);
    return cuda_on_cpu::random::box_muller(x[0], x[1], x[2], x[3]);
  }
}
template <class State>
cuda_on_cpu::random::Of<State, float> curand_normal(State* state) {
  state->boxmuller_flag ^= 1;
  if (state->boxmuller_flag == 0) return state->boxmuller_extra;
  const float2 pair = curand_normal2(state);
  state->boxmuller_extra = pair.y;
  return pair.x;
}
template <class State>
cuda_on_cpu::random::Of<State, double> curand_normal_double(State* state) {
  state->boxmuller_flag_double ^= 1;
  if (state->boxmuller_flag_double == 0) return state->boxmuller_extra_double;
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_extra_double = pair.y;
  return pair.x;
}
template <class State>
cuda_on_cpu::random::OfPhilox<State, float4> curand_normal4(State* state) {
  const uint4 x = curand4(state);
  const float2 first = cuda_on_cpu::random::box_muller(x.x, x.y);
  const float2 second = cuda_on_cpu::random::box_muller(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}

template <class State>
cuda_on_cpu::random::Of<State, float> curand_log_normal(State* state, float mean, float stddev) {
  return expf(mean + stddev * curand_normal(state));
}
template <class State>
cuda_on_cpu::random::Of<State, double> curand_log_normal_double(State* state, double mean, double stddev) {
  return exp(mean + stddev * curand_normal_double(state));
}
template <class State>
cuda_on_cpu::random::Of<State, float2> curand_log_normal2(State* state, float mean, float stddev) {
  const float2 x = curand_normal2(state);
  return make_float2(expf(mean + stddev * x.x), expf(mean + stddev * x.y));
}

/// Up to 64 and from 4000 on, the same numbers as on a GPU; between these, others of the same distribution: a sum of
/// such numbers.
template <class State>
cuda_on_cpu::random::Of<State, unsigned int> curand_poisson(State* state, double lambda) {
  if (lambda > 4000) return static_cast<unsigned>(std::sqrt(lambda) * curand_normal_double(state) + lambda + 0.5);
  unsigned sum = 0;
  for (; lambda >= 64; lambda -= 32) sum += curand_poisson(state, 32);
  float product = expf(static_cast<float>(lambda));
  for (;; ++sum) {
    product *= curand_uniform(state);
    if (product <= 1) return sum;
  }
}

// As NVIDIA's does; last, as it uses what is above.
#include <curand.h>
