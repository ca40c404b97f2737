/// @file
/// Values that carry the flag of their own arrival.
///
/// A receiver usually waits twice, for a flag and then for the data, and the sender needs a fence
/// between the two. Here, every 8 bytes contain 4 bytes of data and the number of the request to
/// which they belong. 8 bytes are written and read as one, so a thread that sees the number has the
/// data: no flag, no fence, for twice the bytes. (NCCL calls such a protocol LL, for low latency.)
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

namespace stagewise::minibatch {

/// The data in the lower half, the number in the upper one.
using Word = unsigned long long;

/// Numbers that belong to no request: for memory before the first one, and for the end.
constexpr std::uint32_t no_request = 0;
constexpr std::uint32_t stop_request = 0xffffffff;

/// How many words a value takes.
template <typename T>
constexpr int words_of = sizeof(T) / sizeof(std::uint32_t);

/// The number of the next request: 1 to stop_request - 1, then 1 again.
__host__ __device__ inline std::uint32_t request_after(std::uint32_t number) {
  return number + 1 == stop_request ? 1 : number + 1;
}

//! [words]
/// Combines a request's number and 4 bytes of data.
__host__ __device__ inline Word make_word(std::uint32_t number, std::uint32_t data) {
  return Word{number} << 32U | data;
}

/// The request that a word belongs to.
__host__ __device__ inline std::uint32_t number_of(Word word) { return static_cast<std::uint32_t>(word >> 32U); }

/// The 4 bytes of data in a word.
__host__ __device__ inline std::uint32_t data_of(Word word) { return static_cast<std::uint32_t>(word); }
//! [words]

// std::array has no functions for kernels.
// NOLINTBEGIN(modernize-avoid-c-arrays)

/// A value split into words.
template <typename T>
struct Message {
  Word words[words_of<T>];
};

/// Splits a value into words, each with the request's number.
template <typename T>
__host__ __device__ Message<T> make_message(std::uint32_t number, T value) {
  std::uint32_t data[words_of<T>];
  std::memcpy(data, &value, sizeof(T));
  Message<T> message;
  for (int i = 0; i < words_of<T>; ++i) message.words[i] = make_word(number, data[i]);
  return message;
}

/// Reassembles a value. Its words must all belong to one request.
template <typename T>
__host__ __device__ T value_of(const Message<T>& message) {
  std::uint32_t data[words_of<T>];
  for (int i = 0; i < words_of<T>; ++i) data[i] = data_of(message.words[i]);
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

// NOLINTEND(modernize-avoid-c-arrays)

}  // namespace stagewise::minibatch
