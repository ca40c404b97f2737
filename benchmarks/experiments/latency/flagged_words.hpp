/// @file
/// Values that say themselves when they have come.
///
/// Who waits for data usually waits twice: for a flag, then for the data, and the sender needs a
/// fence between the two. Here every 8 bytes hold 4 of data and the number of the request that they
/// belong to. 8 bytes are written and read as one, so whoever sees the number has the data: no
/// flag, no fence, for twice the bytes. (NCCL calls such a protocol LL, for low latency.)
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

namespace stagewise::minibatch {

/// The data in the lower half, the number in the upper one.
using Word = unsigned long long;

/// Numbers that are no request's: memory before the first one, and the end.
constexpr std::uint32_t no_request = 0;
constexpr std::uint32_t stop_request = 0xffffffff;

/// Words that a value takes.
template <typename T>
constexpr int words_of = sizeof(T) / sizeof(std::uint32_t);

/// The number of the next request: 1 to stop_request - 1, then from 1 again.
__host__ __device__ inline std::uint32_t request_after(std::uint32_t number) {
  return number + 1 == stop_request ? 1 : number + 1;
}

//! [words]
/// Puts a request's number and 4 bytes of data together.
__host__ __device__ inline Word make_word(std::uint32_t number, std::uint32_t data) {
  return Word{number} << 32U | data;
}

/// The request that a word belongs to.
__host__ __device__ inline std::uint32_t number_of(Word word) {
  return static_cast<std::uint32_t>(word >> 32U);
}

/// The 4 bytes of data in a word.
__host__ __device__ inline std::uint32_t data_of(Word word) {
  return static_cast<std::uint32_t>(word);
}
//! [words]

// std::array has no functions for kernels.
// NOLINTBEGIN(modernize-avoid-c-arrays)

/// A value cut into words.
template <typename T>
struct Message {
  Word words[words_of<T>];
};

/// Cuts a value into words, each with the request's number.
template <typename T>
__host__ __device__ Message<T> make_message(std::uint32_t number, T value) {
  std::uint32_t data[words_of<T>];
  std::memcpy(data, &value, sizeof(T));
  Message<T> message;
  for (int i = 0; i < words_of<T>; ++i) message.words[i] = make_word(number, data[i]);
  return message;
}

/// Puts a value together again. Its words must all be of one request.
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
