/// @file
/// A ladder: kernels for the same problem, each with one idea more than the one before.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

#include "cuda/workspace.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// Whether a rung can be used, and if not, why.
struct Support {
  std::string reason;  ///< empty: it can; else what is missing, as the end of a sentence

  explicit operator bool() const { return reason.empty(); }
};

/// One rung of a ladder for problems of one kind, such as GemmProblem<float>.
template <typename Problem>
struct Rung {
  std::string_view name;  ///< "tile-16": what `--rung` takes
  std::string_view file;  ///< where it is, from the repository's root
  std::string_view idea;  ///< what it adds, in a few words

  /// Enqueues the work. The workspace serves one stream at a time.
  void (*run)(cudaStream_t stream, const Problem& problem, Workspace& workspace);

  /// Whether this build, the current GPU and this problem allow it.
  Support (*supports)(const Problem& problem);

  Index tile = 0;  ///< side of the squares of results that a block computes; 0: not squares

  /// The largest relative error with which it takes its input; 0: it takes it as it is. A rung that
  /// rounds is used on request only.
  double rounding = 0;

  /// The first part of `run`, if it prepares its input in a way that a program could keep for
  /// several problems; else null.
  void (*prepare)(cudaStream_t stream, const Problem& problem, Workspace& workspace) = nullptr;

  /// The heading above it in a list; empty: it is a rung of the ladder, faster than those before.
  const char* group = "";
};

/// All rungs, from the bottom to the top.
template <typename Problem>
using Ladder = std::span<const Rung<Problem>>;

/// For the rungs that everything supports.
template <typename Problem>
Support supports_everything(const Problem& /*problem*/) {
  return {};
}

/// For a list of choices.
template <typename Problem>
std::vector<std::string> names_of(Ladder<Problem> ladder) {
  std::vector<std::string> names;
  for (const Rung<Problem>& rung : ladder) names.emplace_back(rung.name);
  return names;
}

/// The rung of that name.
/// @throws UsageError that lists the names if there is none.
template <typename Problem>
const Rung<Problem>& find_rung(Ladder<Problem> ladder, std::string_view name) {
  for (const Rung<Problem>& rung : ladder) {
    if (rung.name == name) return rung;
  }
  throw UsageError("there is no rung named '" + std::string(name) + "'; the rungs are " + list_of(names_of(ladder)));
}

}  // namespace stagewise
