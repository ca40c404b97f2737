/// @file
/// What the updates of a program are, and the rate of every step. What updates compute is compared
/// with PyTorch's (tests/golden).

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/differentiate.hpp"
#include "network/model.hpp"
#include "network/optimizer.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

/// The rates of all steps, relative to the learning rate.
std::vector<double> shape_of(const Schedule& schedule) {
  std::vector<double> rates;
  for (std::int64_t step = 1; step <= schedule.steps; ++step) {
    rates.push_back(learning_rate_of({.learning_rate = 0.5, .schedule = schedule}, step) / 0.5);
  }
  return rates;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-15) << "step " << i + 1;
  }
}

TEST(Schedule, BeginsAfterTheWarmup) {
  expect_near(shape_of({.warmup = 4, .steps = 6}), {0.25, 0.5, 0.75, 1, 1, 1});
  expect_near(shape_of({.decay = Decay::step, .warmup = 2, .steps = 6}), {0.5, 1, 1, 1, 0.1, 0.01});
}

/// What a rule keeps from step to step. What updates read and compute, PyTorch's prove.
TEST(Updates, KeepWhatTheirRuleNeeds) {
  struct Kept {
    Sgd sgd;
    bool is_plain;
    std::vector<std::string> states;
  };
  for (const auto& [sgd, plain, states] :
       std::vector<Kept>{{{.learning_rate = 0.5, .l2 = 0.25}, true, {}},
                         {{.rule = Rule::momentum}, false, {"velocity/fc1/weight [4, 3]", "velocity/fc1/bias [3]"}},
                         {{.rule = Rule::adam},
                          false,
                          {"first_moment/fc1/weight [4, 3]", "second_moment/fc1/weight [4, 3]",
                           "first_moment/fc1/bias [3]", "second_moment/fc1/bias [3]"}},
                         {{.schedule = {.decay = Decay::cosine}}, false, {}},
                         {{.schedule = {.warmup = 1}}, false, {}}}) {
    const Model model = build_model({.hidden = {}, .sample = Shape{4}, .classes = 3});
    Differentiated both = differentiate(model.program, model.row_losses);
    std::vector<ValueId> gradients;
    for (const ValueId id : model.parameters) gradients.push_back(both.gradient_of(id));
    Optimizer optimizer = {.sgd = sgd};
    append_updates(both.program, model.parameters, gradients, optimizer);
    expect_valid(both.program);
    EXPECT_EQ(is_plain(sgd), plain);
    EXPECT_EQ(static_cast<bool>(optimizer.rates), !plain) << "a rate that changes is in memory";
    std::vector<std::string> found;
    for (const ValueId id : optimizer.states) {
      found.push_back(both.program[id].name + " " + both.program[id].shape.to_string());
    }
    EXPECT_EQ(found, states);
  }
}

}  // namespace
}  // namespace stagewise
