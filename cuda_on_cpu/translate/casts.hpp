/// @file
/// Casts of kernels to untyped pointers, `(void*)kernel`: an address does not tell the types of the
/// parameters, without which a kernel cannot be called here.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "scanner.hpp"

namespace cuda_on_cpu {

/// `(const void*)kernel` or `reinterpret_cast<void*>(&kernel<float>)`.
struct Cast {
  std::size_t first;  ///< the tokens of what is cast
  std::size_t last;   ///< behind them
  std::size_t end;    ///< behind the cast
  bool is_const;

  /// What takes its place: a call that notes the types.
  std::string around(const std::string& address) const {
    const std::string call = "::cuda_on_cpu::untyped(" + address + ")";
    return is_const ? "static_cast<const void*>(" + call + ")" : call;
  }
};

/// All casts of the kernels that the tokens declare, by the token that they begin with.
std::map<std::size_t, Cast> find_casts(const Tokens& tokens);

}  // namespace cuda_on_cpu
