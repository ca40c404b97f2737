/// @file
/// Every operation of a stage against stage 01's loops, on shapes that do not fit any block: 1,
/// primes, no rows, more rows than a grid has, transposed, into outputs full of NaN.
///
/// The tests are compiled once, for all stages. A stage registers them:
///
///     const int primitives = register_primitives<NaiveCudaExecutor>("Stage02");
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "network/program.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// A stage that tests compare with stage 01.
template <typename T>
struct ComparedStage {
  std::function<std::unique_ptr<Executor<T>>()> make;
  std::function<Program(const Program&, Index max_rows)> rewrite = {};  ///< empty: as it is
  bool adds_in_order = false;                                           ///< whether totals are added up as in stage 01
};

/// Adds the tests "<name>/Primitives/float.Products" and so on.
int register_primitives(const std::string& name, const ComparedStage<float>& in_float,
                        const ComparedStage<double>& in_double);

/// Of a stage that executes programs as they are.
template <template <typename> typename Stage>
int register_primitives(const std::string& name, bool adds_in_order = false) {
  const auto in = [&]<typename T>(T /*precision*/) -> ComparedStage<T> {
    return {.make = [] { return std::make_unique<Stage<T>>(); }, .adds_in_order = adds_in_order};
  };
  return register_primitives(name, in(float()), in(double()));
}

}  // namespace stagewise
