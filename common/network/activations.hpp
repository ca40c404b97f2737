/// @file
/// The activations: a closed set, in one place. Names of options and of operations, the program's
/// lines, their derivatives, their sizes and the tables of files follow from it; what computes one,
/// each stage says itself (see the page "Adding an activation").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace stagewise {

//! [activations]
/// The function applied to the output of a layer.
enum class Activation : std::uint8_t { none, relu, sigmoid };

/// What an activation is called, as an option and as an operation, and its derivative.
struct ActivationNames {
  Activation activation;
  const char* name;
  const char* backward;
};

/// All but none.
inline constexpr std::array activations = {
    ActivationNames{Activation::relu, "relu", "relu_backward"},
    ActivationNames{Activation::sigmoid, "sigmoid", "sigmoid_backward"},
};
//! [activations]

/// The names of an activation.
/// @throws std::logic_error if it has none.
constexpr const ActivationNames& names_of(Activation activation) {
  for (const ActivationNames& one : activations) {
    if (one.activation == activation) return one;
  }
  throw std::logic_error("this activation has no name");
}

/// Calls work.operator()<a>() with each of them.
template <typename Work>
constexpr void for_each_activation(const Work& work) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (work.template operator()<activations[i].activation>(), ...); }
  (std::make_index_sequence<activations.size()>());
}

/// Calls work.operator()<a>() with the activation, unless it is none.
template <typename Work>
constexpr void with_activation(Activation activation, const Work& work) {
  for_each_activation([&]<Activation a>() {
    if (a == activation) work.template operator()<a>();
  });
}

}  // namespace stagewise
