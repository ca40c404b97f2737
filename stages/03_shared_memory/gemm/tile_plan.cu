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
#include <map>
#include <tuple>

#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/vector.cuh"
#include "cuda/device.hpp"
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
template <typename T>
double cycles_of_blocks(const FittedTile<T>& tile, double rate, int count, Index k_tiles) {
  const double multiplying = tile.BK * static_cast<double>(tile.BM) * tile.BN / rate;
  const double numbers = tile.BK * static_cast<double>(tile.BM + tile.BN);
  const double loading = numbers * sizeof(T) / l2_bytes;
  const double per_k_tile =
      std::max({count * multiplying + pause / count, count * loading, latency / (tile.stages - 1)});
  const double filling = count * (tile.stages - 1) * numbers / first_numbers;
  const double bytes = static_cast<double>(tile.BM * tile.BN * sizeof(T));
  const double adding = count * (tile.slices - 1) * bytes / slice_bytes;
  const double storing = count * bytes / store_bytes * (tile.results > 64 ? in_pairs : 1);
  return start + filling + static_cast<double>(k_tiles) * per_k_tile + adding + storing;
}

/// The time of a product: that of the multiprocessor with the most blocks.
template <typename T>
double cycles_of(const FittedTile<T>& tile, double rate, Index tiles, Index k_tiles, int parts) {
  const Index of_part = cuda::pieces(k_tiles, parts);
  const Index most = cuda::pieces(tiles * parts, cuda::multiprocessors());
  double cycles =
      static_cast<double>(most / tile.blocks) * cycles_of_blocks(tile, rate, tile.blocks, of_part);
  if (const auto rest = static_cast<int>(most % tile.blocks); rest > 0) {
    cycles += cycles_of_blocks(tile, rate, rest, of_part);
  }
  if (parts > 1) {
    const double bytes = static_cast<double>(tile.BM) * tile.BN * sizeof(T);
    cycles += hand_over + (1 + parts) * bytes / l2_bytes_alone;
  }
  return cycles;
}
//! [tile_cycles]

}  // namespace

template <typename T>
bool copies_vectors(const GemmProblem<T>& p) {
  if (p.op_a == Transpose::yes && p.op_b == Transpose::yes) return false;
  return is_aligned(p.a, p.op_a == Transpose::no ? p.k : p.m) &&
         is_aligned(p.b, p.op_b == Transpose::yes ? p.k : p.n);
}

template <typename T>
int max_parts(const FittedTile<T>& tile, Index m, Index n, Index k) {
  constexpr Index min_k_tiles = 2;  // adding up parts must not take longer than multiplying them
  const Index tiles = cuda::pieces(m, tile.BM) * cuda::pieces(n, tile.BN);
  const Index room = max_parts_of_all<T>(tile.BM * tile.BN) / tiles;
  return static_cast<int>(
      std::max<Index>(1, std::min(room, cuda::pieces(k, tile.BK) / min_k_tiles)));
}

//! [plan_tile]
// Those numbers of parts are tried that give all multiprocessors the same number of blocks, or
// nearly.
template <typename T>
TilePlan plan_tile(const FittedTile<T>& tile, Index m, Index n, Index k, bool vectors) {
  const Index tiles = cuda::pieces(m, tile.BM) * cuda::pieces(n, tile.BN);
  const Index most = max_parts(tile, m, n, k);
  const double rate = vectors ? tile.rate : tile.rate_of_numbers;
  TilePlan best;
  for (int blocks = 0; blocks <= 2 * tile.blocks; ++blocks) {
    const Index wanted = blocks * cuda::multiprocessors() / tiles;
    const auto parts = static_cast<int>(std::clamp<Index>(wanted, 1, most));
    const double cycles = cycles_of(tile, rate, tiles, cuda::pieces(k, tile.BK), parts);
    if (cycles < best.cycles) best = {.parts = parts, .cycles = cycles};
  }
  return best;
}

template <typename T>
TilePlan plan_tiles(std::span<const FittedTile<T>> table, Index m, Index n, Index k, bool vectors) {
  TilePlan best;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!fits_block(table[i])) continue;
    TilePlan plan = plan_tile(table[i], m, n, k, vectors);
    plan.tile = i;
    if (plan.cycles < best.cycles) best = plan;
  }
  return best;
}
//! [plan_tile]

template <typename T>
TilePlan remembered_plan(std::span<const FittedTile<T>> table, Index m, Index n, Index k,
                         bool vectors) {
  using Key = std::tuple<const FittedTile<T>*, Index, Index, Index, bool>;
  static thread_local std::map<Key, TilePlan> plans;
  const Key key = {table.data(), m, n, k, vectors};
  auto plan = plans.find(key);
  if (plan == plans.end()) plan = plans.emplace(key, plan_tiles(table, m, n, k, vectors)).first;
  return plan->second;
}

template <typename T>
void gemm_planned_tiles(cudaStream_t stream, const GemmProblem<T>& p,
                        std::span<const FittedTile<T>> table, Workspace& workspace) {
  const TilePlan plan = remembered_plan(table, p.m, p.n, p.k, copies_vectors(p));
  table[plan.tile].run(stream, p, plan.parts, workspace);
}

template bool copies_vectors(const GemmProblem<float>&);
template bool copies_vectors(const GemmProblem<double>&);
template int max_parts(const FittedTile<float>&, Index, Index, Index);
template int max_parts(const FittedTile<double>&, Index, Index, Index);
template TilePlan plan_tile(const FittedTile<float>&, Index, Index, Index, bool);
template TilePlan plan_tile(const FittedTile<double>&, Index, Index, Index, bool);
template TilePlan plan_tiles(std::span<const FittedTile<float>>, Index, Index, Index, bool);
template TilePlan plan_tiles(std::span<const FittedTile<double>>, Index, Index, Index, bool);
template TilePlan remembered_plan(std::span<const FittedTile<float>>, Index, Index, Index, bool);
template TilePlan remembered_plan(std::span<const FittedTile<double>>, Index, Index, Index, bool);
template void gemm_planned_tiles(cudaStream_t, const GemmProblem<float>&,
                                 std::span<const FittedTile<float>>, Workspace&);
template void gemm_planned_tiles(cudaStream_t, const GemmProblem<double>&,
                                 std::span<const FittedTile<double>>, Workspace&);

}  // namespace stagewise::shared_memory
