/// @file
/// The rewrite of a whole step into one line.
#pragma once

#include <cstdint>
#include <optional>

#include "network/program.hpp"

namespace stagewise::minibatch::persistent {

/// Whether a step becomes one line.
enum class Choice : std::uint8_t {
  automatic,  ///< where it is estimated to be faster
  always,     ///< wherever it can be done
  never
};

/// The step of a network with one hidden layer, without workers, as a single `persistent_step`;
/// nothing for other programs, and where `choice` says so.
/// @tparam T its size decides what fits.
/// @param max_rows the rows of the largest batch.
/// @throws Error if no GPU can be used, or it does not fit and `choice` is always.
template <typename T>
std::optional<Program> as_persistent_step(const Program& program, Index max_rows, Choice choice);

}  // namespace stagewise::minibatch::persistent
