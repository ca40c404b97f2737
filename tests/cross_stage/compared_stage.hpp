/// @file
/// A stage that tests compare with stage 01.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cross_stage/stage_types.hpp"
#include "network/program.hpp"
#include "training/executor.hpp"

namespace stagewise {

template <typename T>
struct ComparedStage {
  std::function<std::unique_ptr<Executor<T>>()> make;
  std::function<Program(const Program&, Index max_rows)> rewrite;  ///< empty: as it is
  bool adds_in_order = false;
};

/// What a Maker says (primitives.hpp), for one type of numbers.
template <typename Maker, typename T>
ComparedStage<T> compared_stage() {
  ComparedStage<T> stage = {.make = Maker::template make<T>, .rewrite = {}};
  if constexpr (requires { Maker::template rewrite<T>; }) {
    stage.rewrite = Maker::template rewrite<T>;
  }
  if constexpr (requires { Maker::adds_in_order; }) stage.adds_in_order = Maker::adds_in_order;
  return stage;
}

/// A test of such a stage. A class derived from it lists its tests as `checks`, pairs of a name and
/// a function.
template <typename T>
class StageTest : public testing::Test {
 protected:
  explicit StageTest(ComparedStage<T> stage) : stage_(std::move(stage)) {}

  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }

  ComparedStage<T> stage_;
};

/// Adds the tests of such a class for a stage: "<name>float.<check>" and "<name>double.<check>".
template <template <typename> class Test>
void register_checks(const std::string& name, const ComparedStage<float>& in_float,
                     const ComparedStage<double>& in_double) {
  const auto add = [&]<typename T>(const std::string& suite, const ComparedStage<T>& stage) {
    for (const auto& check : Test<T>::checks) {
      const auto function = check.second;
      testing::RegisterTest(suite.c_str(), check.first, nullptr, nullptr, __FILE__, __LINE__,
                            [stage, function]() { return new Test<T>(stage, function); });
    }
  };
  add(name + "float", in_float);
  add(name + "double", in_double);
}

}  // namespace stagewise
