/// @file
/// A barrier in shared memory that also counts bytes.
///
/// `__syncthreads()` makes all threads of a block wait for each other. When one warp loads and
/// others multiply, that is too much: who loads waits for room, who multiplies waits for numbers,
/// and neither has to stop for more than that. An **mbarrier** separates the two sides: some
/// *arrive*, without waiting, and others *wait* until a given number has arrived. Copies of the
/// bulk copy engine, which no thread carries out, take part by the bytes that they have written.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// The address of shared memory as PTX takes it.
__device__ inline unsigned shared_address(const void* pointer) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
#else  // CUDA on the CPU compiles this, and calls none of it
  return pointer != nullptr ? 1 : 0;
#endif
}

//! [mbarrier]
/// A barrier is used again and again: once all have arrived, its next **phase** begins. Who waits
/// says for the end of which phase, by its number modulo 2.
class Mbarrier {
 public:
  /// Before anybody else uses it, by one thread.
  /// @param arrivals how many end a phase.
  __device__ void init(unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals));
  }

  /// Arrives, and lets the phase wait for `bytes` bytes of copies, too.
  __device__ void arrive_and_expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
  }

  /// Arrives at the barrier in the same place of another block of the cluster, or of this one.
  __device__ void arrive_at(unsigned block) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address()),
        "r"(block)
        : "memory");
  }

  /// Waits until the phase of that parity has ended. Of a barrier that nobody has used yet, the
  /// phase of parity 1 has.
  __device__ void wait(unsigned parity) {
    unsigned ended = 0;
    while (ended == 0) {
      asm volatile(
          "{\n"
          ".reg .pred ended;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
          "selp.u32 %0, 1, 0, ended;\n"
          "}"
          : "=r"(ended)
          : "r"(address()), "r"(parity)
          : "memory");
    }
  }

 private:
  __device__ unsigned address() const { return shared_address(this); }

  [[maybe_unused]] std::uint64_t state_;
};
//! [mbarrier]

/// After init() of all barriers, by the thread that called it: others may see them now, also the
/// copy engine and the other blocks of the cluster, once they have met this thread.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Waits for all threads of all blocks of the cluster.
__device__ inline void sync_cluster() {
  asm volatile(
      "barrier.cluster.arrive.aligned;\n"
      "barrier.cluster.wait.aligned;" ::
          : "memory");
}

}  // namespace stagewise::shared_memory
