/// @file
/// Kernels of which there is one for each number of ranks.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "05_mpi/all_reduce/peers.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"

namespace stagewise::mpi {

/// The kernel for so many ranks. Their number is part of a kernel's type, so that words stay in
/// registers and loops over the ranks have no conditions.
/// @param kernel_of returns that for `r` ranks: `[&]<int r>() { return kernel<r>; }`.
template <typename KernelOf>
auto kernel_for(int ranks, const KernelOf& kernel_of) {
  const auto all = [&]<int... i>(std::integer_sequence<int, i...> /*numbers*/) {
    return std::array{kernel_of.template operator()<i + 1>()...};
  }
  (std::make_integer_sequence<int, max_peers>{});
  return all.at(static_cast<std::size_t>(ranks) - 1);
}

/// How many blocks of a kernel this GPU runs at the same time.
template <typename Kernel>
int resident_blocks(Kernel* kernel, int threads) {
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return blocks * cuda::multiprocessors();
}

}  // namespace stagewise::mpi
