/// @file
/// What the parts of CUB have in common: function objects, pairs, iterators, help with errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/functional>
#include <functional>
#include <iterator>
#include <type_traits>

#include <cuda_runtime.h>

// The last version that has the names of before 2025 and those of today.
#define CUB_VERSION 200800
#define CUB_MAJOR_VERSION 2
#define CUB_MINOR_VERSION 8
#define CUB_SUBMINOR_VERSION 0
#define CUB_PATCH_NUMBER 0
#define CUB_STATIC_ASSERT(condition, message) static_assert(condition, message)
#define CUB_MIN(a, b) ((b) < (a) ? (b) : (a))
#define CUB_MAX(a, b) ((a) < (b) ? (b) : (a))
#define CUB_QUOTIENT_CEILING(a, b) (((a) + (b)-1) / (b))
#define CUB_PTX_WARP_THREADS 32
#define CubDebug(error) ::cub::Debug(error, __FILE__, __LINE__)
#define CubDebugExit(error) \
  if (::cub::Debug(error, __FILE__, __LINE__) != cudaSuccess) exit(1)

namespace cub {

using Sum = std::plus<>;
using Difference = std::minus<>;
using Division = std::divides<>;
using Equality = std::equal_to<>;
using Inequality = std::not_equal_to<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;

struct NullType {};

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  Key key;
  Value value;

  KeyValuePair() = default;
  KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  bool operator!=(const KeyValuePair& other) const { return value != other.value || key != other.key; }
};

/// Of two pairs, that with the greater value; of equal ones, that with the lesser key.
struct ArgMax {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return a.value < b.value || (!(b.value < a.value) && b.key < a.key) ? b : a;
  }
};
/// Likewise with the lesser value.
struct ArgMin {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (!(a.value < b.value) && b.key < a.key) ? b : a;
  }
};

/// Two arrays between which a sort goes to and fro.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;

  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() const { return d_buffers[selector]; }
  T* Alternate() const { return d_buffers[selector ^ 1]; }
};

/// An iterator whose element number i is at(i).
template <class Self, class T>
struct ComputedIterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;

  std::ptrdiff_t offset = 0;

  T operator*() const { return (*this)[0]; }
  T operator[](std::ptrdiff_t i) const { return static_cast<const Self&>(*this).at(offset + i); }
  Self& operator+=(std::ptrdiff_t n) {
    offset += n;
    return static_cast<Self&>(*this);
  }
  Self& operator++() { return *this += 1; }
  friend Self operator+(Self it, std::ptrdiff_t n) { return it += n; }
  friend Self operator-(Self it, std::ptrdiff_t n) { return it += -n; }
  friend std::ptrdiff_t operator-(const Self& a, const Self& b) { return a.offset - b.offset; }
  friend bool operator==(const Self& a, const Self& b) { return a.offset == b.offset; }
  friend bool operator!=(const Self& a, const Self& b) { return a.offset != b.offset; }
};
template <class T, class Offset = std::ptrdiff_t>
struct CountingInputIterator : ComputedIterator<CountingInputIterator<T, Offset>, T> {
  T first;
  explicit CountingInputIterator(T value) : first(value) {}
  T at(std::ptrdiff_t i) const { return static_cast<T>(first + i); }
};
template <class T, class Offset = std::ptrdiff_t>
struct ConstantInputIterator : ComputedIterator<ConstantInputIterator<T, Offset>, T> {
  T all;
  explicit ConstantInputIterator(T value) : all(value) {}
  T at(std::ptrdiff_t /*i*/) const { return all; }
};
template <class T, class Function, class Input, class Offset = std::ptrdiff_t>
struct TransformInputIterator : ComputedIterator<TransformInputIterator<T, Function, Input, Offset>, T> {
  Input input;
  Function function;
  TransformInputIterator(Input it, Function operation) : input(it), function(operation) {}
  T at(std::ptrdiff_t i) const { return function(input[i]); }
};
template <class Input, class Offset = std::ptrdiff_t, class T = typename std::iterator_traits<Input>::value_type>
struct ArgIndexInputIterator : ComputedIterator<ArgIndexInputIterator<Input, Offset, T>, KeyValuePair<Offset, T>> {
  Input input;
  explicit ArgIndexInputIterator(Input it) : input(it) {}
  KeyValuePair<Offset, T> at(std::ptrdiff_t i) const { return {static_cast<Offset>(i), input[i]}; }
};

/// Says what error there is, if there is one, and gives it back.
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess)
    std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                 cudaGetErrorString(error));
  return error;
}

/// Keeps nothing: an allocation costs little here.
struct CachingDeviceAllocator {
  explicit CachingDeviceAllocator(bool /*skip_cleanup*/ = false, bool /*debug*/ = false) {}
  explicit CachingDeviceAllocator(unsigned /*growth*/, unsigned = 1, unsigned = 0, std::size_t = 0, bool = false,
                                  bool = false) {}
  cudaError_t DeviceAllocate(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaStream_t /*stream*/ = nullptr,
                             CUDA_ON_CPU_HERE) {
    return cudaMalloc(pointer, bytes, place);
  }
  cudaError_t DeviceFree(void* pointer, CUDA_ON_CPU_HERE) { return cudaFree(pointer, place); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};

namespace detail {

/// A number that is ordered as the keys are, of which the bits from begin to end count.
template <class Key>
std::uint64_t digits(const Key& key, int begin, int end) {
  static_assert(sizeof(Key) <= 8, "of CUB's sorts by digits, CUDA on the CPU has those of numbers of up to 64 bits");
  constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Key) - 1);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &key, sizeof(Key));
  if constexpr (std::is_integral_v<Key>) {
    if (std::is_signed_v<Key>) bits ^= sign;
  } else {
    if (bits == sign) bits = 0;  // as the zero without a sign
    bits = (bits & sign) != 0 ? ~bits & (sign | (sign - 1)) : bits | sign;
  }
  const int count = end - begin;
  return count <= 0 ? 0 : (bits >> begin) & (~std::uint64_t{0} >> (64 - count));
}

}  // namespace detail
}  // namespace cub
