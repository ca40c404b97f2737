/// @file
/// A program that is executed on samples at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include "training/trainer.hpp"
#include "unit/observed_executor.hpp"
#include "unit/programs.hpp"

namespace stagewise {

/// Samples and classes at random.
inline Dataset random_data(const Shape& sample, int classes, Index samples) {
  return {sample, classes, random_values<double>(samples * sample.elements(), 1), random_labels(samples, classes, 2)};
}

/// Their order in an epoch.
inline std::vector<std::uint32_t> shuffled(Index samples) {
  std::vector<std::uint32_t> order;
  order_of_epoch(samples, 1, 1, true, order);
  return order;
}

/// A program to be executed on a data set, with parameters at random.
struct Execution {
  Execution(const ModelOptions& options, Program its_program, Index max_rows)
      : program(std::move(its_program)),
        data(random_data(options.sample, options.classes, 40)),
        order(shuffled(data.size())) {
    executor.load(program, max_rows);
    executor.read_from(data, order);
    std::uint64_t seed = 10;
    for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
      const Value& value = program[ValueId{i}];
      if (is_parameter(value.role) && executor.data({i}) != nullptr) {
        const auto values = random_values<double>(value.shape.elements(), ++seed, -0.5, 0.5);
        std::copy(values.begin(), values.end(), executor.data({i}));
      } else if (value.role == Role::total && executor.data({i}) != nullptr) {
        *executor.data<Totals>({i}) = {};
      }
    }
  }

  std::vector<double> get(const std::string& name, Index rows) {
    const ValueId id = named(program, name);
    const double* const there = executor.data(id);
    return {there, there + elements_of(program[id], rows)};
  }

  Program program;
  Dataset data;
  std::vector<std::uint32_t> order;
  ObservedExecutor<double> executor;
};

}  // namespace stagewise
