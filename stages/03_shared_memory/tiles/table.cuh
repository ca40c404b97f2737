/// @file
/// Tables of tiles, from which each product gets the one that suits it.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "03_shared_memory/tiles/kernel.cuh"
#include "cuda/compiled_entries.hpp"

namespace stagewise::shared_memory {

/// An entry of a table: a Tile, and its rates; see TileInfo. Where a rate is 0, no kernel is
/// compiled.
template <int rate_, int rate_of_scalars_, int... sizes>
struct TwiceRatedTile : Tile<sizes...> {
  static constexpr int rate = rate_;
  static constexpr int rate_of_scalars = rate_of_scalars_;
};

/// An entry of a table for factors that are all copied in the same way.
template <int rate, int... sizes>
using RatedTile = TwiceRatedTile<rate, rate, sizes...>;

/// What choose_tile() has to know of an entry.
template <typename T, typename Entry>
constexpr TileInfo describe_tile() {
  constexpr int size = sizeof(T);
  constexpr int padding = 2 * 32;  // bytes of a step, in the layout that takes more
  constexpr int pipeline = Entry::buffers * Entry::BK * ((Entry::BM + Entry::BN) * size + padding);
  constexpr int sums = Entry::slice_k > 1 ? Entry::slice_k * Entry::BM * Entry::BN * size : 0;
  return {Entry::BM,
          Entry::BN,
          Entry::BK,
          Entry::slice_k,
          Entry::buffers,
          Entry::blocks,
          Entry::BM * Entry::BN / Entry::threads,
          size,
          std::max(pipeline, sums),
          Entry::rate,
          Entry::rate_of_scalars};
}

template <template <typename, typename, typename> class MmaOf, typename Entries>
struct CompiledTable;

/// @tparam MmaOf what multiplies; see Mma.
template <template <typename, typename, typename> class MmaOf, typename... Entries>
using TileTable = CompiledTable<MmaOf, typename cuda::CompiledEntries<Entries...>::Type>;

template <template <typename, typename, typename> class MmaOf, typename... Entries>
struct CompiledTable<MmaOf, std::tuple<Entries...>> {
  /// Whether B's k tiles are transposed if memory runs along k in both factors.
  static constexpr bool transposes_b = keeps_vectors_of_steps<MmaOf>;

  /// The table as choose_tile() wants it.
  template <typename T>
  static constexpr auto tiles = std::to_array<TileInfo>({describe_tile<T, Entries>()...});

  /// Calls work(entry) with the entry of an index.
  template <typename Work>
  static void with(std::size_t index, const Work& work) {
    std::size_t i = 0;
    ((i++ == index ? work(Entries()) : void()), ...);
  }

  /// Calls work(entry, split_k) with what suits a product.
  template <typename T, typename Work>
  static void with_choice(const ProductSize& size, const Work& work) {
    const TileChoice choice = remembered_choice(tiles<T>, size.m, size.n, size.k);
    with(choice.tile, [&](auto entry) { work(entry, choice.split_k); });
  }

  /// Calls launch_tiles() with an entry.
  template <typename Entry, typename... Arguments>
  static void launch(Arguments&&... arguments) {
    launch_tiles<MmaOf, Entry>(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace stagewise::shared_memory
