/// @file
/// The inline PTX that CUDA on the CPU knows: reading a special register, and `mma.sync`, the
/// product of small matrices by a warp, which C++ has no other way to ask for in all its shapes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "functions.hpp"
#include "scanner.hpp"

namespace cuda_on_cpu {

/// `asm volatile("..." : ... : ...)`, without its semicolon.
struct InlinePtx {
  std::size_t end;          ///< the token behind it
  std::string replacement;  ///< an expression of C++, on one line
};

/// All in device functions whose instruction is known, by the token that they begin with.
std::map<std::size_t, InlinePtx> find_inline_ptx(const Tokens& tokens,
                                                 const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
