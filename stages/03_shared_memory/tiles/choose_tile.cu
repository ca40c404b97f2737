/// @file
/// Which tile suits a product, and how many blocks share one.
///
/// The larger a tile, the fewer numbers are loaded for each multiplication. But C has a whole
/// number of tiles, and a GPU a whole number of multiprocessors: with 64 x 104, 800 x 1000 has 130
/// tiles, nearly one for each of 132 multiprocessors; with 64 x 64, it has 208, of which some
/// multiprocessors get two and the others one (**wave quantization**). And if C is small, there are
/// fewer tiles than multiprocessors, unless several blocks share a tile, each for a part of k. No
/// rule of thumb weighs all that, so the time is estimated for every tile of a table, and the
/// shortest wins.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "03_shared_memory/tiles/choose_tile.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {
namespace {

//! [tile_cycles]
/// How a multiprocessor's time depends on what it does, in cycles. These numbers were fitted to
/// 1,200 products measured on an H100, and the rates of the tiles, with them, to others on an H200,
/// so that the picked tile is the fastest as often as possible; other GPUs have similar
/// proportions.
constexpr double l2_bytes = 36.6;        ///< that arrive per cycle, if all multiprocessors load
constexpr double l2_bytes_alone = 51.9;  ///< if few of them do
constexpr double store_bytes = 24.1;     ///< of results that are stored per cycle
constexpr double in_pairs = 3.67;        ///< times as long, if a thread has too many for vectors
constexpr double slice_bytes = 77.5;     ///< of sums that a slice leaves for another, per cycle
constexpr double latency = 296;          ///< of a k tile, if few are under way
constexpr double pause = 137;            ///< per k tile, in which a block waits for the next
constexpr double start = 2930;           ///< of a launch, and until the first numbers are there
constexpr double first_numbers = 16;     ///< of those that fill the buffers, per cycle
constexpr double hand_over = 4650;  ///< until another block sees that this block has left its sums

/// The time of one multiprocessor that computes `count` blocks at the same time. While one of them
/// pauses, the others multiply. A k tile cannot take less than its share of the latency: no more of
/// them are under way than there are free buffers.
double cycles_of_blocks(const TileInfo& tile, double rate, int count, Index k_tiles) {
  const double multiplying = tile.BK * static_cast<double>(tile.BM) * tile.BN / rate;
  const double numbers = tile.BK * static_cast<double>(tile.BM + tile.BN);
  const double loading = numbers * tile.scalar_bytes / l2_bytes;
  const double per_k_tile = std::max(
      {count * multiplying + pause / count, count * loading, latency / (tile.buffers - 1)});
  const double filling = count * (tile.buffers - 1) * numbers / first_numbers;
  const double bytes = static_cast<double>(tile.BM * tile.BN * tile.scalar_bytes);
  const double adding = count * (tile.slice_k - 1) * bytes / slice_bytes;
  const double storing = count * bytes / store_bytes * (tile.results > 64 ? in_pairs : 1);
  return start + filling + static_cast<double>(k_tiles) * per_k_tile + adding + storing;
}

/// The time of a product: that of the multiprocessor with the most blocks.
double cycles_of(const TileInfo& tile, double rate, Index tiles, Index k_tiles, int split_k) {
  const Index of_block = cuda::pieces(k_tiles, split_k);
  const Index most = cuda::pieces(tiles * split_k, cuda::multiprocessors());
  double cycles =
      static_cast<double>(most / tile.blocks) * cycles_of_blocks(tile, rate, tile.blocks, of_block);
  if (const auto rest = static_cast<int>(most % tile.blocks); rest > 0) {
    cycles += cycles_of_blocks(tile, rate, rest, of_block);
  }
  if (split_k > 1) {
    const double bytes = static_cast<double>(tile.BM) * tile.BN * tile.scalar_bytes;
    cycles += hand_over + (1 + split_k) * bytes / l2_bytes_alone;
  }
  return cycles;
}
//! [tile_cycles]

/// How long a tile takes, to be compared with others. Where the CPU plays the GPU, nothing runs at
/// the same time, and each thread's turn at a k tile costs as much as 200 multiply-adds. Programs
/// that count say what a GPU would do.
double cost_of([[maybe_unused]] const TileInfo& tile, [[maybe_unused]] Index m,
               [[maybe_unused]] Index n, [[maybe_unused]] Index k, double cycles) {
#if defined(CUDA_ON_CPU) && !defined(CUDA_ON_CPU_INSTRUMENTED)
  const double elements = static_cast<double>(tile.BM) * tile.BN;
  const Index k_tiles = tile.count(m, n) * cuda::pieces(k, tile.BK);
  const double turns = static_cast<double>(k_tiles) * elements * (tile.BK + 200.0 / tile.results);
  return std::isfinite(cycles) ? turns : cycles;  // infinite: there is no kernel
#else
  return cycles;
#endif
}

}  // namespace

int max_split_k(const TileInfo& tile, Index m, Index n, Index k) {
  constexpr Index min_k_tiles = 2;  // adding up must not take longer than multiplying them
  const Index room = split_k_room(tile.BM * tile.BN * tile.scalar_bytes) / tile.count(m, n);
  return static_cast<int>(
      std::max<Index>(1, std::min(room, cuda::pieces(k, tile.BK) / min_k_tiles)));
}

//! [choose_tile]
// Those numbers of blocks are tried that give all multiprocessors the same number of blocks, or
// nearly.
TileChoice choose_split_k(const TileInfo& tile, Index m, Index n, Index k, bool vectors) {
  const Index tiles = tile.count(m, n);
  const Index most = max_split_k(tile, m, n, k);
  const double rate = vectors ? tile.rate : tile.rate_of_scalars;
  TileChoice best;
  for (int blocks = 0; blocks <= 2 * tile.blocks; ++blocks) {
    const Index wanted = blocks * cuda::multiprocessors() / tiles;
    const auto split_k = static_cast<int>(std::clamp<Index>(wanted, 1, most));
    const double cycles = cycles_of(tile, rate, tiles, cuda::pieces(k, tile.BK), split_k);
    if (cycles < best.cycles) best = {.split_k = split_k, .cycles = cycles};
  }
  return best;
}

TileChoice choose_tile(std::span<const TileInfo> table, Index m, Index n, Index k, bool vectors) {
  TileChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!fits_block(table[i])) continue;
    TileChoice choice = choose_split_k(table[i], m, n, k, vectors);
    choice.tile = i;
    const double cost = cost_of(table[i], m, n, k, choice.cycles);
    if (cost < least) {
      least = cost;
      best = choice;
    }
  }
  return best;
}
//! [choose_tile]

TileChoice remembered_choice(std::span<const TileInfo> table, Index m, Index n, Index k,
                             bool vectors) {
  using Key = std::tuple<const TileInfo*, Index, Index, Index, bool>;
  static thread_local std::map<Key, TileChoice> choices;
  const Key key = {table.data(), m, n, k, vectors};
  const auto found = choices.find(key);
  if (found != choices.end()) return found->second;
  return choices[key] = choose_tile(table, m, n, k, vectors);
}

}  // namespace stagewise::shared_memory
