/// @file
/// Tables of tilings, from which each product gets the one that suits it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "03_shared_memory/gemm/tile_kernel.cuh"

namespace stagewise::shared_memory {

/// An entry of a table: the numbers of a SlicedTiling, and its rates; see FittedTile. Where a rate
/// is 0, no kernel is compiled.
template <int rate_, int rate_of_numbers_, int... numbers>
struct TwiceRatedTiling {
  using Tiling = SlicedTiling<numbers...>;
  static constexpr int rate = rate_;
  static constexpr int rate_of_numbers = rate_of_numbers_;
};

/// An entry of a table for factors that are all copied in the same way.
template <int rate, int... numbers>
using RatedTiling = TwiceRatedTiling<rate, rate, numbers...>;

/// What plan_tiles() has to know of an entry. `run` stays null.
template <typename T, typename Entry>
constexpr FittedTile<T> describe_tile() {
  using Tiling = typename Entry::Tiling;
  constexpr int size = sizeof(T);
  constexpr int padding = 2 * 32;  // bytes of a step, in the layout that takes more
  constexpr int pipeline =
      Tiling::stages * Tiling::BK * ((Tiling::BM + Tiling::BN) * size + padding);
  constexpr int sums = Tiling::slices > 1 ? Tiling::slices * Tiling::BM * Tiling::BN * size : 0;
  return {Tiling::BM,
          Tiling::BN,
          Tiling::BK,
          Tiling::slices,
          Tiling::stages,
          Tiling::blocks,
          Tiling::BM * Tiling::BN / Tiling::threads,
          std::max(pipeline, sums),
          Entry::rate,
          Entry::rate_of_numbers,
          nullptr};
}

#if defined(CUDA_ON_CPU) && !defined(CUDA_ON_CPU_OBSERVED)
/// The entries of a table that are compiled where the CPU plays the GPU: the first, the last, and
/// one whose sides are not all powers of two. There, no tile is fast, and all take long to compile.
/// Programs that count have all: they tell what a GPU would do.
template <typename... Entries>
struct CompiledEntries {
  using All = std::tuple<Entries...>;
  static constexpr std::size_t count = sizeof...(Entries);

  static constexpr std::size_t odd = [] {
    const bool is_odd[] = {(std::popcount(unsigned{Entries::Tiling::BM}) > 1 ||
                            std::popcount(unsigned{Entries::Tiling::BN}) > 1)...};
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (is_odd[i]) return i;
    }
    return count / 2;
  }();

  template <std::size_t... numbers>
  using Of = std::tuple<std::tuple_element_t<numbers, All>...>;
  using Type = typename std::conditional_t<(count > 3), std::type_identity<Of<0, odd, count - 1>>,
                                           std::type_identity<All>>::type;
};
#else
template <typename... Entries>
struct CompiledEntries {
  using Type = std::tuple<Entries...>;
};
#endif

template <template <typename, typename, typename> class Multiplier, typename Entries>
struct CompiledTable;

/// @tparam Multiplier the unit that multiplies; see multiplied_tile.cuh.
template <template <typename, typename, typename> class Multiplier, typename... Entries>
using TilingTable = CompiledTable<Multiplier, typename CompiledEntries<Entries...>::Type>;

//! [tiling_table]
template <template <typename, typename, typename> class Multiplier, typename... Entries>
struct CompiledTable<Multiplier, std::tuple<Entries...>> {
  /// Whether one of two factors whose memory runs along k is turned.
  static constexpr bool turns_one = keeps_vectors_of_steps<Multiplier>;

  /// The table as plan_tiles() wants it.
  template <typename T>
  static constexpr auto tiles = std::to_array<FittedTile<T>>({describe_tile<T, Entries>()...});

  /// Calls work(entry) with each entry.
  template <typename Work>
  static constexpr void for_each(const Work& work) {
    (work(Entries()), ...);
  }

  /// Calls work(tiling) with entry number `number`.
  template <typename Work>
  static void with(std::size_t number, const Work& work) {
    std::size_t i = 0;
    ((i++ == number ? work(typename Entries::Tiling()) : void()), ...);
  }

  /// Calls work(tiling, parts) with what suits a product.
  template <typename T, typename Work>
  static void with_plan(const ProductSize& size, const Work& work) {
    const TilePlan plan =
        remembered_plan(std::span<const FittedTile<T>>(tiles<T>), size.m, size.n, size.k);
    with(plan.tile, [&](auto tiling) { work(tiling, plan.parts); });
  }

  /// Calls launch_tiles() with this table's unit.
  template <typename T, typename Tiling, typename... Arguments>
  static void launch(Arguments&&... arguments) {
    launch_tiles<Multiplier, T, Tiling>(std::forward<Arguments>(arguments)...);
  }
};
//! [tiling_table]

}  // namespace stagewise::shared_memory
