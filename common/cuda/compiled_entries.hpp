/// @file
/// Which entries of a table of kernels are compiled.
#pragma once

#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace stagewise::cuda {

#if defined(CUDA_ON_CPU) && !defined(CUDA_ON_CPU_OBSERVED)
/// The entries of a table of tiles that are compiled where the CPU plays the GPU: the first, the
/// last, and one whose sides, BM and BN, are not all powers of two. There, no tile is fast, and all
/// take long to compile. Programs that count have all: they tell what a GPU would do.
template <typename... Entries>
struct CompiledEntries {
  using All = std::tuple<Entries...>;
  static constexpr std::size_t count = sizeof...(Entries);

  static constexpr std::size_t odd = [] {
    const bool is_odd[] = {
        (std::popcount(unsigned{Entries::BM}) > 1 || std::popcount(unsigned{Entries::BN}) > 1)...};
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (is_odd[i]) return i;
    }
    return count / 2;
  }();

  template <std::size_t... i>
  using Of = std::tuple<std::tuple_element_t<i, All>...>;
  using Type = typename std::conditional_t<(count > 3), std::type_identity<Of<0, odd, count - 1>>,
                                           std::type_identity<All>>::type;
};
#else
/// All entries of a table: `Type` is a tuple of them.
template <typename... Entries>
struct CompiledEntries {
  using Type = std::tuple<Entries...>;
};
#endif

}  // namespace stagewise::cuda
