/// @file
/// cuRAND's functions for the host: the generators of curand_kernel.h, in the order that NVIDIA documents for
/// CURAND_ORDERING_PSEUDO_LEGACY. Other orders, and that of normally distributed numbers, are not documented; there the
/// numbers have the same distribution as on a GPU but may not be the same.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <cuda_on_cpu/libraries.h>
#include <curand_kernel.h>

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
using curandStatus_t = curandStatus;
enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
using curandRngType_t = curandRngType;
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
using curandOrdering_t = curandOrdering;

namespace cuda_on_cpu::random {

/// A generator's numbers, by their places.
class Sequence {
 public:
  Sequence() = default;
  virtual ~Sequence() = default;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  virtual void bits(unsigned* out, std::size_t n) = 0;
  virtual void uniform(float* out, std::size_t n) = 0;
  virtual void uniform(double* out, std::size_t n) = 0;
  virtual void normal(float* out, std::size_t n, float mean, float stddev, bool is_log) = 0;
  virtual void normal(double* out, std::size_t n, double mean, double stddev, bool is_log) = 0;
  virtual void poisson(unsigned* out, std::size_t n, double lambda) = 0;
};

template <class State>
class SequenceOf final : public Sequence {
 public:
  /// @param offset how many numbers to leave out.
  SequenceOf(unsigned long long seed, unsigned long long offset) : states_(is_philox<State> ? 1 : 4096) {
    const std::size_t count = states_.size();
    next_ = offset % count;
    for (std::size_t i = 0; i < count; ++i) curand_init(seed, i, offset / count + (i < next_ ? 1 : 0), &states_[i]);
  }

  void bits(unsigned* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = curand(next());
  }
  void uniform(float* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = curand_uniform(next());
  }
  void uniform(double* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = curand_uniform_double(next());
  }
  void normal(float* out, std::size_t n, float mean, float stddev, bool is_log) override {
    pairs(out, n, mean, stddev, is_log, [](State* state) { return curand_normal2(state); });
  }
  void normal(double* out, std::size_t n, double mean, double stddev, bool is_log) override {
    pairs(out, n, mean, stddev, is_log, [](State* state) { return curand_normal2_double(state); });
  }
  void poisson(unsigned* out, std::size_t n, double lambda) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = curand_poisson(next(), lambda);
  }

 private:
  State* next() {
    State* const state = &states_[next_];
    next_ = (next_ + 1) % states_.size();
    return state;
  }
  template <class T, class Pair>
  void pairs(T* out, std::size_t n, T mean, T stddev, bool is_log, Pair pair) {
    for (std::size_t i = 0; i < n; i += 2) {
      const auto two = pair(next());
      const T values[2] = {mean + stddev * two.x, mean + stddev * two.y};
      for (int j = 0; j < 2; ++j) out[i + j] = is_log ? std::exp(values[j]) : values[j];
    }
  }

  std::vector<State> states_;
  std::size_t next_;
};

/// What a curandGenerator_t stands for.
struct Generator {
  curandRngType type;
  bool is_host;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0;
  unsigned long long offset = 0;
  std::shared_ptr<Sequence> sequence;  ///< null before its first number

  void start() {
    if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
      sequence = std::make_shared<SequenceOf<curandStatePhilox4_32_10>>(seed, offset);
    } else if (type == CURAND_RNG_PSEUDO_MRG32K3A) {
      sequence = std::make_shared<SequenceOf<curandStateMRG32k3a>>(seed, offset);
    } else {
      sequence = std::make_shared<SequenceOf<curandStateXORWOW>>(seed, offset);
    }
  }
};

inline curandStatus make(Generator** generator, curandRngType type, bool is_host, Place place) {
  if (generator == nullptr) return CURAND_STATUS_TYPE_ERROR;
  *generator = nullptr;
  if (type >= CURAND_RNG_QUASI_DEFAULT) {
    note_at(place, "of cuRAND's generators, CUDA on the CPU has no quasi-random ones.");
    return CURAND_STATUS_TYPE_ERROR;
  }
  if (type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_PSEUDO_MT19937) {
    note_at(place, "CUDA on the CPU has no Mersenne twister: the random numbers are those of XORWOW instead.");
    type = CURAND_RNG_PSEUDO_XORWOW;
  }
  *generator = new Generator{type, is_host};
  return CURAND_STATUS_SUCCESS;
}

/// Fills `out` by what `fill` does with a sequence.
template <class T, class Fill>
curandStatus generate(const char* call, Generator* generator, T* out, std::size_t n, Fill fill, Place place) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->sequence == nullptr) generator->start();
  const auto work = [fill, out, n, sequence = generator->sequence] { fill(*sequence, out, n); };
  if (generator->is_host) {
    work();
    return CURAND_STATUS_SUCCESS;
  }
  const cudaError_t error =
      run_library(call, generator->stream, {{"the output", out, n * sizeof(T), true}}, work, place);
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class T>
curandStatus generate_uniform(const char* call, Generator* generator, T* out, std::size_t n, Place place) {
  return generate(
      call, generator, out, n, [](Sequence& from, T* to, std::size_t count) { from.uniform(to, count); }, place);
}
template <class T>
curandStatus generate_normal(const char* call, Generator* generator, T* out, std::size_t n, T mean, T stddev,
                             bool is_log, Place place) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  const auto fill = [=](Sequence& from, T* to, std::size_t count) { from.normal(to, count, mean, stddev, is_log); };
  return generate(call, generator, out, n, fill, place);
}

}  // namespace cuda_on_cpu::random

using curandGenerator_t = cuda_on_cpu::random::Generator*;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::make(generator, type, false, place);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::make(generator, type, true, place);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetVersion(int* version) {
  *version = 10300;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->sequence.reset();
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset;
  generator->sequence.reset();
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t /*order*/) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->start();
  return CURAND_STATUS_SUCCESS;
}

inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, std::size_t n, CUDA_ON_CPU_HERE) {
  using cuda_on_cpu::random::Sequence;
  const auto fill = [](Sequence& from, unsigned* to, std::size_t count) { from.bits(to, count); };
  return cuda_on_cpu::random::generate("curandGenerate()", generator, out, n, fill, place);
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, std::size_t n, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_uniform("curandGenerateUniform()", generator, out, n, place);
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, std::size_t n,
                                                  CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_uniform("curandGenerateUniformDouble()", generator, out, n, place);
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, std::size_t n, float mean,
                                           float stddev, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_normal("curandGenerateNormal()", generator, out, n, mean, stddev, false, place);
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, std::size_t n, double mean,
                                                 double stddev, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_normal("curandGenerateNormalDouble()", generator, out, n, mean, stddev, false,
                                              place);
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, std::size_t n, float mean,
                                              float stddev, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_normal("curandGenerateLogNormal()", generator, out, n, mean, stddev, true,
                                              place);
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, std::size_t n,
                                                    double mean, double stddev, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::random::generate_normal("curandGenerateLogNormalDouble()", generator, out, n, mean, stddev, true,
                                              place);
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* out, std::size_t n,
                                            double lambda, CUDA_ON_CPU_HERE) {
  using cuda_on_cpu::random::Sequence;
  if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  const auto fill = [=](Sequence& from, unsigned* to, std::size_t count) { from.poisson(to, count, lambda); };
  return cuda_on_cpu::random::generate("curandGeneratePoisson()", generator, out, n, fill, place);
}
