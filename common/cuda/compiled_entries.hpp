/// @file
/// Which entries of a table of kernels are compiled.
#pragma once

#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace stagewise::cuda {

#if defined(STAGEWISE_FEW_TILES) || (defined(CUDA_ON_CPU) && !defined(CUDA_ON_CPU_INSTRUMENTED))
/// The entries of a table of tiles that are compiled where the CPU plays the GPU: the first and the
/// last, and, if `most` is 3, one whose sides, BM and BN, are not all powers of two. There, no tile
/// is fast, and all take long to compile. Programs that count have all: they tell what a GPU would
/// do. STAGEWISE_FEW_TILES leaves them out for a GPU, too: whoever compiles and runs nothing sees
/// as much.
/// @tparam most how many are compiled, at most: 2 or 3.
template <int most, typename... Entries>
struct CompiledEntries {
  static_assert(most == 2 || most == 3);
  using All = std::tuple<Entries...>;
  static constexpr std::size_t count = sizeof...(Entries);

  static constexpr std::size_t odd = [] {
    const bool is_odd[] = {(std::popcount(unsigned{Entries::BM}) > 1 || std::popcount(unsigned{Entries::BN}) > 1)...};
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (is_odd[i]) return i;
    }
    return count / 2;
  }();

  template <std::size_t... i>
  using Of = std::tuple<std::tuple_element_t<i, All>...>;
  using Chosen =
      std::conditional_t<most == 2, std::type_identity<Of<0, count - 1>>, std::type_identity<Of<0, odd, count - 1>>>;
  using Type = typename std::conditional_t<(count > most), Chosen, std::type_identity<All>>::type;
};
#else
/// All entries of a table: `Type` is a tuple of them.
template <int /*most*/, typename... Entries>
struct CompiledEntries {
  using Type = std::tuple<Entries...>;
};
#endif

}  // namespace stagewise::cuda
