/// @file
/// What a request of a warp costs: the sectors of global memory that it touches, the cycles that
/// the banks of shared memory take.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cuda_on_cpu/counters.hpp"

namespace cuda_on_cpu {

inline constexpr unsigned sector_bits = 5;
inline constexpr unsigned sector_bytes = 1U << sector_bits;
inline constexpr unsigned banks = 32;  ///< of shared memory, each 4 bytes wide
inline constexpr unsigned bank_bytes = 4;

/// Accesses of the lanes of a warp that are one request.
struct Request {
  unsigned lanes = 0;
  unsigned bytes = 0;  ///< of each
  std::array<std::uintptr_t, 32> addresses;
};

/// Numbers in the order in which they come; one that equals the last is not added.
struct Numbers {
  std::array<std::uintptr_t, 128> values;
  std::size_t count = 0;
  bool is_sorted = true;

  /// Adds one.
  void add(std::uintptr_t value) {
    if (count > 0) {
      if (values[count - 1] == value) return;
      is_sorted = is_sorted && values[count - 1] < value;
    }
    values[count++] = value;
  }
  /// Leaves each number once.
  void make_distinct() {
    if (is_sorted) return;
    auto* const end = values.data() + count;
    std::sort(values.data(), end);
    count = static_cast<std::size_t>(std::unique(values.data(), end) - values.data());
  }
};

/// Calls function(sector) once for each sector of a request.
/// @return how many there are.
template <class Function>
std::size_t for_each_sector(const Request& request, const Function& function) {
  std::uintptr_t least = ~std::uintptr_t{0};
  std::uintptr_t most = 0;
  for (unsigned i = 0; i < request.lanes; ++i) {
    least = std::min(least, request.addresses[i]);
    most = std::max(most, request.addresses[i]);
  }
  const std::uintptr_t begin = least / sector_bytes;
  if ((most + request.bytes - 1) / sector_bytes - begin < 64) {  // a bit for each of them
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < request.lanes; ++i) {
      bits |= std::uint64_t{1} << (request.addresses[i] / sector_bytes - begin);
      bits |=
          std::uint64_t{1} << ((request.addresses[i] + request.bytes - 1) / sector_bytes - begin);
    }
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    for (; bits != 0; bits &= bits - 1) {
      function(begin + static_cast<unsigned>(std::countr_zero(bits)));
    }
    return count;
  }
  Numbers sectors;
  for (unsigned i = 0; i < request.lanes; ++i) {
    sectors.add(request.addresses[i] / sector_bytes);
    sectors.add((request.addresses[i] + request.bytes - 1) / sector_bytes);
  }
  sectors.make_distinct();
  for (std::size_t i = 0; i < sectors.count; ++i) function(sectors.values[i]);
  return sectors.count;
}

/// Adds the cycles that shared memory takes for a request. Lanes that want 8 bytes are served in
/// two halves of the warp, those that want 16 in four quarters. In each, a bank serves one word per
/// cycle, whoever wants it.
inline void add_wavefronts(const Request& request, AccessCounts& counts) {
  const unsigned words = std::max(1U, request.bytes / bank_bytes);
  const unsigned together = 32 / words;
  for (unsigned first = 0; first < request.lanes; first += together) {
    const unsigned end = std::min(first + together, request.lanes);
    Numbers wanted;
    for (unsigned i = first; i < end; ++i) {
      for (unsigned word = 0; word < words; ++word) {
        wanted.add(request.addresses[i] / bank_bytes + word);
      }
    }
    wanted.make_distinct();
    std::array<std::uint8_t, banks> per_bank{};
    unsigned most = 0;
    for (std::size_t i = 0; i < wanted.count; ++i) {
      most = std::max<unsigned>(most, ++per_bank[wanted.values[i] % banks]);
    }
    counts.wavefronts += most;
    counts.conflicts += most - 1;
  }
}

}  // namespace cuda_on_cpu
