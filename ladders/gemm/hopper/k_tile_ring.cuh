/// @file
/// The ring of k tiles between the warp that loads, by the bulk copy engine (the "tensor memory
/// accelerator", TMA), and the warps that multiply.
///
/// A k tile of A and of B lies in one of several **stages** of shared memory, which are used in
/// turn. Each stage has two barriers: `full`, at which the loading warp and the bytes arrive, and
/// for which the multiplying warps wait; and `empty`, the other way round. So the loading warp is
/// ahead by as many k tiles as there are stages, and nobody waits for more than what it needs.
#pragma once

#include <cuda.h>

#include "ladders/gemm/hopper/mbarrier.cuh"
#include "ladders/gemm/hopper/tensor_map.hpp"

namespace stagewise::shared_memory {

//! [bulk_copy]
/// Requests a box of a matrix; one thread does so for all. The engine finds the addresses itself,
/// fills up with zeros beyond the matrix, and tells `barrier` how many bytes it has written.
/// @param to at a multiple of 1024 bytes, because of the swizzle.
/// @param column, row the box's first; each may lie beyond the matrix.
__device__ inline void copy_box(void* to, const CUtensorMap& map, int column, int row, Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

/// The same to the first `blocks` blocks of the cluster at once (**multicast**): in each to the
/// place `to`, and with the bytes counted by the barrier at `barrier`. It is read from the L2 cache
/// only once.
template <int blocks>
__device__ inline void copy_box_to_cluster(void* to, const CUtensorMap& map, int column, int row, Mbarrier& barrier) {
  constexpr int mask = (1 << blocks) - 1;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier)), "h"(static_cast<short>(mask))
      : "memory");
}
//! [bulk_copy]

//! [wgmma_tiling]
/// Who computes what: a block a tile of C of 128 x BN, each of its two warpgroups 64 x BN of it.
/// One more warp loads. `cluster` blocks, whose tiles are one above the other, need the same k
/// tiles of B: each loads a part of them, for all. For 288 threads, there are 224 registers each,
/// enough for the 128 sums. (With a whole warpgroup that loads, there would be 168, and the threads
/// would have to redistribute them: `setmaxnreg`.)
template <int BN_, int stages_, int cluster_>
struct WgmmaTiling {
  static constexpr int BM = 128;
  static constexpr int BN = BN_;
  static constexpr int stages = stages_;
  static constexpr int cluster = cluster_;
  static constexpr int warps = 8;  ///< that multiply
  static constexpr int threads = 32 * (warps + 1);

  static constexpr int bytes_of_a = BM * box_row_bytes;
  static constexpr int bytes_of_b = BN * box_row_bytes;
  static constexpr int bytes_of_stage = bytes_of_a + bytes_of_b;
  static constexpr int part_of_b = BN / cluster;  ///< the rows that a block loads
};
//! [wgmma_tiling]

//! [k_tile_ring]
/// One thread's view of the ring: both sides go through the stages in the same order.
template <typename Tiling>
class KTileRing {
 public:
  static constexpr int stages = Tiling::stages;
  static constexpr int bytes = stages * (Tiling::bytes_of_stage + 2 * sizeof(Mbarrier));

  /// @param memory at a multiple of 1024 bytes.
  /// @param rank the block's number in its cluster.
  __device__ KTileRing(unsigned char* memory, unsigned rank)
      : memory_(memory),
        barriers_(reinterpret_cast<Mbarrier*>(memory + stages * Tiling::bytes_of_stage)),
        rank_(rank) {}

  /// By one thread, before the blocks of the cluster meet.
  __device__ void init() {
    for (int i = 0; i < stages; ++i) {
      full(i).init(1);
      empty(i).init(Tiling::warps * Tiling::cluster);
    }
    publish_barriers();
  }

  /// Requests the next k tile, as soon as there is room for it in all blocks of the cluster.
  /// @param step the first along k.
  /// @param row, column of C, the block's first.
  __device__ void load(const CUtensorMap& a, const CUtensorMap& b, int step, int row, int column) {
    empty(stage_).wait(parity_ ^ 1U);
    full(stage_).arrive_and_expect(Tiling::bytes_of_stage);
    copy_box(stage(), a, step, row, full(stage_));
    const int part = static_cast<int>(rank_) * Tiling::part_of_b;
    unsigned char* const to = stage() + Tiling::bytes_of_a + part * box_row_bytes;
    if constexpr (Tiling::cluster == 1) {
      copy_box(to, b, step, column, full(stage_));
    } else {
      copy_box_to_cluster<Tiling::cluster>(to, b, step, column + part, full(stage_));
    }
    advance();
  }

  /// Waits for the next k tile.
  __device__ void wait() { full(stage_).wait(parity_); }
  /// Its rows of A, 128 bytes each.
  __device__ const unsigned char* a() const { return stage(); }
  /// Its rows of B, likewise.
  __device__ const unsigned char* b() const { return stage() + Tiling::bytes_of_a; }

  /// Goes on to the one behind it.
  __device__ void advance() {
    if (++stage_ < stages) return;
    stage_ = 0;
    parity_ ^= 1U;
  }

  /// This warp no longer needs the k tile before the next one: tells all blocks that write there.
  __device__ void release_previous() {
    const unsigned lane = threadIdx.x % 32;
    if (lane < Tiling::cluster) empty((stage_ == 0 ? stages : stage_) - 1).arrive_at(lane);
  }

 private:
  __device__ unsigned char* stage() const { return memory_ + stage_ * Tiling::bytes_of_stage; }
  __device__ Mbarrier& full(int stage) const { return barriers_[2 * stage]; }
  __device__ Mbarrier& empty(int stage) const { return barriers_[2 * stage + 1]; }

  unsigned char* memory_;
  Mbarrier* barriers_;
  unsigned rank_;
  int stage_ = 0;
  unsigned parity_ = 0;
};
//! [k_tile_ring]

}  // namespace stagewise::shared_memory
