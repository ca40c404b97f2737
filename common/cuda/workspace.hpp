/// @file
/// Memory beside the operands, for what blocks leave for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/tensor.hpp"

namespace stagewise {

/// A piece of the GPU's memory that kernels use for partial sums, and counters by which the last of
/// several blocks knows that it is the last. Allocated once, and used by one stream at a time, so
/// each lane of a step has its own, of 33.8 MB.
class Workspace {
 public:
  /// @throws Error if the GPU has too little memory.
  Workspace();

  /// Room for partial results, undefined between kernels; aligned for every type.
  template <typename T>
  T* partials() {
    return static_cast<T*>(static_cast<void*>(partials_.data()));
  }

  /// How many values of T partials() has room for.
  template <typename T>
  static constexpr Index capacity() {
    return bytes / static_cast<Index>(sizeof(T));
  }

  /// Room for more than that, where a kernel needs it: partials() where that suffices, else memory
  /// that is allocated at the first request and kept. Then no stream must be in capture.
  /// @throws Error if the GPU has too little memory.
  template <typename T>
  T* room(Index count) {
    return static_cast<T*>(room_for(count * static_cast<Index>(sizeof(T))));
  }

  /// Zero before every kernel: whoever counts with them sets them back to 0.
  unsigned* counters() { return counters_.data(); }

  /// How many there are; they take 256 KiB. Whoever has one for each tile or block must not have
  /// more tiles or blocks than that.
  static constexpr Index counter_count = 65'536;

  /// Room for values that are 0 until a block writes them, and are set back to 0 like the counters:
  /// all counters but the first ticket_count.
  template <typename T>
  T* slots() {
    return static_cast<T*>(static_cast<void*>(counters() + ticket_count));
  }

  /// How many values of T slots() has room for.
  template <typename T>
  static constexpr Index slot_count() {
    return (counter_count - ticket_count) * static_cast<Index>(sizeof(unsigned)) / static_cast<Index>(sizeof(T));
  }

  static constexpr Index ticket_count = 1024;

 private:
  /// For partials(): room for a tile of 64 x 64 floats from each block that a GPU runs at once, 16
  /// on each of 128 multiprocessors. With less, fewer blocks could share a product.
  static constexpr Index bytes = Index{32} << 20;

  void* room_for(Index wanted);

  Tensor<std::byte> partials_;
  Tensor<unsigned> counters_;
  std::vector<Tensor<std::byte>> more_;  ///< each larger than the one before, all in use
};

}  // namespace stagewise
