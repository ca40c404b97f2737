/// @file
/// For kernels whose threads know from a word's value, without a fence, what others have done: for
/// example, words that carry data and the number of the turn to which these belong. Nothing in the
/// language says what such a word orders, so kernels declare it to the check of every access, which
/// also compares the two sides. Without this check, and on a GPU, there is nothing to declare; so a
/// program says
///
///     #ifdef CUDA_ON_CPU_INSTRUMENTED
///     #include <cuda_on_cpu/declare.h>
///     ... declare_sent(&word, turn);
///     #endif
#pragma once

#include <cstdint>

namespace cuda_on_cpu {

void note_sent(const volatile void* word, std::uint64_t number);
void note_received(const volatile void* word, std::uint64_t number);

/// This thread is about to store a word that says that it has come to turn `number`. A thread that
/// reads it may rely on what this one has done so far, and its block up to its last barrier.
inline void declare_sent(const volatile void* word, std::uint64_t number) {
  note_sent(word, number);
  asm volatile("");  // no tail call: the return address tells the line
}

/// This thread has read the word of that turn, and relies on it from now on. If it is not the one
/// last declared as sent there, the launch ends with an error.
inline void declare_received(const volatile void* word, std::uint64_t number) {
  note_received(word, number);
  asm volatile("");
}

}  // namespace cuda_on_cpu
