/// @file
/// For kernels whose threads know by a word's value what others have done, without a fence: words
/// that carry data and the number of the turn to which these belong, for example. Nothing in the
/// language says what such a word orders, so the checks of every access are told, and compare the
/// two sides. Without them, and on a GPU, declarations are nothing; so a program says
///
///     #ifdef CUDA_ON_CPU_OBSERVED
///     #include <cuda_on_cpu/declare.h>
///     ... declare_sent(&word, turn);
///     #endif
#pragma once

#include <cstdint>

namespace cuda_on_cpu {

void note_sent(const volatile void* word, std::uint64_t number);
void note_received(const volatile void* word, std::uint64_t number);

/// This thread is about to store a word that says that it has come to turn `number`. Whoever finds
/// that may rely on what this thread has done so far, and its block up to its last barrier.
inline void declare_sent(const volatile void* word, std::uint64_t number) {
  note_sent(word, number);
  asm volatile("");  // the call returns here, by which its line is known
}

/// This thread has found the word of that turn, and relies on it from here on. If it is not the
/// one that was last declared to have been sent there, the launch ends with a sentence.
inline void declare_received(const volatile void* word, std::uint64_t number) {
  note_received(word, number);
  asm volatile("");
}

}  // namespace cuda_on_cpu
