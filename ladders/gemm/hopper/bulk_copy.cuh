/// @file
/// Copies of the bulk copy engine (the "tensor memory accelerator", TMA) to shared memory.
#pragma once

#include <cuda.h>

#include "ladders/gemm/hopper/mbarrier.cuh"

namespace stagewise::shared_memory {

//! [bulk_copy]
/// Requests a box of a matrix; one thread does so for all. The engine finds the addresses itself,
/// fills up with zeros beyond the matrix, and tells `barrier` how many bytes it has written.
/// @param to at a multiple of 1024 bytes, because of the swizzle.
/// @param column, row the box's first; each may lie beyond the matrix.
__device__ inline void copy_box(void* to, const CUtensorMap& map, int column, int row,
                                Mbarrier& barrier) {
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
__device__ inline void copy_box_to_cluster(void* to, const CUtensorMap& map, int column, int row,
                                           Mbarrier& barrier) {
  constexpr int mask = (1 << blocks) - 1;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier)), "h"(static_cast<short>(mask))
      : "memory");
}
//! [bulk_copy]

}  // namespace stagewise::shared_memory
