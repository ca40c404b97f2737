/// @file
/// What the updates of a program are, and the rate of every step. What updates compute is compared
/// with PyTorch's (tests/golden).

#include <numbers>
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

TEST(Schedule, IsConstantByDefault) {
  EXPECT_EQ(learning_rate_of({.learning_rate = 0.3}, 1), 0.3);
  EXPECT_EQ(learning_rate_of({.learning_rate = 0.3}, 1'000'000'000'000), 0.3);
}

TEST(Schedule, FallsInStepsOrAlongACosine) {
  expect_near(shape_of({.decay = Decay::step, .steps = 8}), {1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01});
  expect_near(shape_of({.decay = Decay::step, .steps = 5}), {1, 1, 1, 0.1, 0.01});
  const double root = std::numbers::sqrt2 / 2;
  expect_near(shape_of({.decay = Decay::cosine, .steps = 4}),
              {1, (1 + root) / 2, 0.5, (1 - root) / 2});
}

TEST(Schedule, BeginsAfterTheWarmup) {
  expect_near(shape_of({.warmup = 4, .steps = 6}), {0.25, 0.5, 0.75, 1, 1, 1});
  expect_near(shape_of({.decay = Decay::step, .warmup = 2, .steps = 6}), {0.5, 1, 1, 1, 0.1, 0.01});
}

/// The step of a network with one hidden layer, with its updates.
struct Updated {
  explicit Updated(const Sgd& sgd)
      : model(build_model({.hidden = {5}, .sample = Shape{4}, .classes = 3})),
        optimizer{.sgd = sgd} {
    Differentiated both = differentiate(model.program, model.row_losses);
    std::vector<ValueId> gradients;
    for (const ValueId id : model.parameters) gradients.push_back(both.gradient_of(id));
    before = both.program.lines.size();
    append_updates(both.program, model.parameters, gradients, optimizer);
    program = both.program;
    expect_valid(program);
  }

  template <typename Op>
  const Op& update(std::size_t parameter) const {
    return std::get<Op>(program.lines.at(before + parameter).operation);
  }

  Model model;
  Optimizer optimizer;
  Program program;
  std::size_t before = 0;
};

TEST(Updates, OfPlainDescentKeepNothing) {
  const Updated plain({.learning_rate = 0.5, .l2 = 0.25});
  EXPECT_TRUE(is_plain(plain.optimizer.sgd));
  EXPECT_FALSE(plain.optimizer.rates);
  EXPECT_TRUE(plain.optimizer.states.empty());
  EXPECT_EQ(plain.update<SgdUpdate>(3).parameter, plain.model.parameters[3]);
}

TEST(Updates, WithMomentumKeepAVelocity) {
  const Updated momentum({.l2 = 0.25, .rule = Rule::momentum, .momentum = 0.5});
  EXPECT_FALSE(is_plain(momentum.optimizer.sgd));
  ASSERT_EQ(momentum.optimizer.states.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& update = momentum.update<MomentumUpdate>(i);
    const Value& parameter = momentum.program[momentum.model.parameters[i]];
    const Value& velocity = momentum.program[momentum.optimizer.states[i]];
    EXPECT_EQ(update.velocity, momentum.optimizer.states[i]);
    EXPECT_EQ(update.rates, momentum.optimizer.rates);
    EXPECT_EQ(velocity.name, "velocity/" + parameter.name);
    EXPECT_EQ(velocity.shape, parameter.shape);
    EXPECT_EQ(update.momentum, 0.5);
    EXPECT_EQ(update.l2, parameter.role == Role::weight ? 0.25 : 0);
  }
}

TEST(Updates, OfAdamKeepTwoMoments) {
  const Updated adam({.rule = Rule::adam});
  ASSERT_EQ(adam.optimizer.states.size(), 8U);
  const auto& update = adam.update<AdamUpdate>(1);
  EXPECT_EQ(update.first_moment, adam.optimizer.states[2]);
  EXPECT_EQ(update.second_moment, adam.optimizer.states[3]);
  EXPECT_EQ(adam.program[update.first_moment].name, "first_moment/fc1/bias");
  EXPECT_EQ(adam.program[update.second_moment].name, "second_moment/fc1/bias");
}

/// A rate that changes is read from memory, so that a recorded step can be repeated.
TEST(Updates, OfAScheduleReadTheirRate) {
  for (const Schedule& schedule : {Schedule{.decay = Decay::cosine}, Schedule{.warmup = 1}}) {
    const Updated scheduled({.schedule = schedule});
    EXPECT_FALSE(is_plain(scheduled.optimizer.sgd));
    EXPECT_TRUE(scheduled.optimizer.states.empty());
    EXPECT_FALSE(scheduled.update<MomentumUpdate>(0).velocity);
    EXPECT_TRUE(scheduled.update<MomentumUpdate>(0).rates);
  }
}

}  // namespace
}  // namespace stagewise
