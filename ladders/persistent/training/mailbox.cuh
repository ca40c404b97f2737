/// @file
/// How blocks that run at the same time tell each other numbers: by words that carry the flag of
/// their own arrival.
///
/// A barrier of the whole grid makes every block wait for the slowest, and costs a trip to memory
/// for the counter besides the one for the data. Here the receiver waits for the data alone: see
/// ../flagged_words.hpp. The number of a word is that of the step to which it belongs.
///
/// A word may only be overwritten when it has been read. There are two inboxes, used in turn: who
/// sends step t + 2 has received step t + 1 from all that have read step t.
#pragma once

#include <cstring>
#include <cuda/atomic>

#include "03_shared_memory/vector.cuh"
#include "cuda/declare.cuh"
#include "ladders/persistent/training/plan.hpp"

namespace stagewise::minibatch::persistent {

/// Two words: 16 bytes, the most that a thread can load or store at once.
struct alignas(16) WordPair {
  Word first;
  Word second;
};

/// How many numbers two words hold: two floats, or one double.
template <typename T>
constexpr int values_per_pair = 2 / words_of<T>;

//! [words]
/// The words of `values_per_pair` numbers.
template <typename T>
__device__ WordPair make_words(std::uint32_t step, const T* values) {
  std::uint32_t data[2];
  std::memcpy(data, values, sizeof(data));
  return {make_word(step, data[0]), make_word(step, data[1])};
}

/// Whether a word belongs to a step.
__device__ inline bool is_of(Word word, std::uint32_t step) { return number_of(word) == step; }

/// The numbers in two words.
template <typename T>
__device__ shared_memory::Vector<T, values_per_pair<T>> values_of(const WordPair& words) {
  const std::uint32_t data[2] = {data_of(words.first), data_of(words.second)};
  shared_memory::Vector<T, values_per_pair<T>> values;
  std::memcpy(&values, data, sizeof(data));
  return values;
}
//! [words]

/// A word in global memory, which all threads of the GPU see.
using SharedWord = ::cuda::atomic_ref<Word, ::cuda::thread_scope_device>;

/// Loads both words at once, past the caches of the multiprocessor.
__device__ inline WordPair load_words(Word* from) {
  WordPair words = {};
#ifdef __CUDA_ARCH__
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(words.first), "=l"(words.second)
               : "l"(from)
               : "memory");
#else
  words.first = SharedWord(from[0]).load(::cuda::memory_order_relaxed);
  words.second = SharedWord(from[1]).load(::cuda::memory_order_relaxed);
#endif
  return words;
}

/// Stores both words at once.
__device__ inline void store_words(Word* to, const WordPair& words) {
  cuda::declare_sent(to, number_of(words.first));
  cuda::declare_sent(to + 1, number_of(words.second));
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words.first), "l"(words.second)
               : "memory");
#else
  SharedWord(to[0]).store(words.first, ::cuda::memory_order_relaxed);
  SharedWord(to[1]).store(words.second, ::cuda::memory_order_relaxed);
#endif
}

/// Sends number `i` of a box.
template <typename T>
__device__ void send(Word* box, int i, std::uint32_t step, T value) {
  const T values[2] = {value, T{0}};
  const WordPair words = make_words(step, values);
  if constexpr (words_of<T> == 2) {
    store_words(box + 2 * i, words);
  } else {
    cuda::declare_sent(box + i, step);
    SharedWord(box[i]).store(words.first, ::cuda::memory_order_relaxed);
  }
}

/// Lets others go on, where a thread that waits keeps them from it; and gives up after some
/// seconds, so that a mistake ends the program and does not hang it.
class Patience {
 public:
  /// Called after each look that was in vain.
  __device__ void wait() {
    constexpr int most = 1 << 24;  // each asks memory, which takes half a microsecond
    if (++tries_ > most) __trap();
#ifndef __CUDA_ARCH__
    __nanosleep(0);
#endif
  }

 private:
  int tries_ = 0;
};

//! [receive]
/// Receives `count` numbers in shared memory, once each has arrived. The threads of the block share
/// the work; the numbers are there after the next barrier.
/// @tparam in_flight pairs of words that a thread loads before it looks at their flags: it waits
///         for memory once, not for each pair.
/// @param box_of the words that begin with number i, which is a multiple of values_per_pair.
/// @param to aligned to 8 bytes, and with room for an even number.
template <int in_flight, typename T, typename BoxOf>
__device__ void receive(int count, std::uint32_t step, T* to, const BoxOf& box_of) {
  constexpr int per_pair = values_per_pair<T>;
  using Values = shared_memory::Vector<T, per_pair>;
  const auto threads = static_cast<int>(blockDim.x);
  for (int begin = static_cast<int>(threadIdx.x); begin * per_pair < count; begin += in_flight * threads) {
    WordPair words[in_flight];
    Patience patience;
    for (bool are_there = false; !are_there;) {
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const int i = (begin + u * threads) * per_pair;
        if (i < count) words[u] = load_words(box_of(i));
      }
      are_there = true;
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const int i = (begin + u * threads) * per_pair;
        if (i >= count) continue;
        const bool has_second = words_of<T> == 2 || i + 1 < count;
        are_there = are_there && is_of(words[u].first, step) && (!has_second || is_of(words[u].second, step));
      }
      if (!are_there) patience.wait();
    }
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      const int i = (begin + u * threads) * per_pair;
      if (i >= count) continue;
      cuda::declare_received(box_of(i), step);
      if (words_of<T> == 2 || i + 1 < count) cuda::declare_received(box_of(i) + 1, step);
      *reinterpret_cast<Values*>(to + i) = values_of<T>(words[u]);
    }
  }
}
//! [receive]

}  // namespace stagewise::minibatch::persistent
