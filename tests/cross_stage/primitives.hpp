/// @file
/// Every operation of a stage against stage 01's loops, on shapes that do not fit any block: 1,
/// primes, no rows, more rows than a grid has, transposed, into outputs full of NaN.
///
/// The tests are compiled once, for all stages. A stage registers them:
///
///     struct Maker {
///       static constexpr bool adds_in_order = true;  // whether totals are added up as in stage 01
///       template <typename T> static std::unique_ptr<Executor<T>> make();
///       // Where the stage makes another program of it:
///       template <typename T> static Program rewrite(const Program&, Index max_rows);
///     };
///     const int primitives = register_primitives<Maker>("Stage02");
#pragma once

#include <string>

#include "cross_stage/compared_stage.hpp"

namespace stagewise {

/// Adds the tests "<name>/Primitives/float.Products" and so on.
int register_primitives(const std::string& name, const ComparedStage<float>& in_float,
                        const ComparedStage<double>& in_double);

template <typename Maker>
int register_primitives(const std::string& name) {
  return register_primitives(name, compared_stage<Maker, float>(), compared_stage<Maker, double>());
}

}  // namespace stagewise
