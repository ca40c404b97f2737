#include "network/optimizer.hpp"

#include <cmath>
#include <numbers>

namespace stagewise {
namespace {

/// How much is left of the learning rate.
/// @param progress from 0, at the end of the warmup, to 1, at the training's end.
double remainder(Decay decay, double progress) {
  if (decay == Decay::cosine) return (1 + std::cos(std::numbers::pi * progress)) / 2;
  if (decay == Decay::constant || progress < 0.5) return 1;
  return progress < 0.75 ? 0.1 : 0.01;
}

/// A value that an update keeps from step to step.
ValueId add_state(Program& program, const char* kind, ValueId parameter, Optimizer& optimizer) {
  Value state = program[parameter];
  state.name = std::string(kind) + "/" + state.name;
  state.role = Role::state;
  optimizer.states.push_back(program.add(std::move(state)));
  return optimizer.states.back();
}

}  // namespace

bool is_plain(const Sgd& sgd) {
  return sgd.rule == Rule::sgd && sgd.schedule.decay == Decay::constant && sgd.schedule.warmup == 0;
}

double learning_rate_of(const Sgd& sgd, std::int64_t step) {
  const Schedule& schedule = sgd.schedule;
  if (step <= schedule.warmup) {
    return sgd.learning_rate * static_cast<double>(step) / static_cast<double>(schedule.warmup);
  }
  const auto done = static_cast<double>(step - 1 - schedule.warmup);
  const auto all = static_cast<double>(schedule.steps - schedule.warmup);
  return sgd.learning_rate * remainder(schedule.decay, done / all);
}

//! [rates]
std::vector<StepRates> rates_of_steps(const Sgd& sgd, std::int64_t before, std::int64_t count) {
  std::vector<StepRates> rates;
  for (std::int64_t step = before + 1; step <= before + count; ++step) {
    StepRates of_step = {.rate = learning_rate_of(sgd, step)};
    if (sgd.rule == Rule::adam) {
      const auto t = static_cast<double>(step);
      of_step.rate /= 1 - std::pow(sgd.beta1, t);
      of_step.correction = std::sqrt(1 - std::pow(sgd.beta2, t));
    }
    rates.push_back(of_step);
  }
  return rates;
}
//! [rates]

void append_updates(Program& program, const std::vector<ValueId>& parameters, const std::vector<ValueId>& gradients,
                    Optimizer& optimizer) {
  const Sgd& sgd = optimizer.sgd;
  if (!optimizer.rates && !is_plain(sgd)) {
    optimizer.rates = program.add({.name = "rates", .role = Role::data, .type = Type::rates});
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ValueId gradient = gradients[i];
    const ValueId parameter = parameters[i];
    if (!gradient) continue;
    const double l2 = program[parameter].role == Role::weight ? sgd.l2 : 0;
    const auto add = [&](const char* kind) { return add_state(program, kind, parameter, optimizer); };
    if (!optimizer.rates) {
      program.append(
          SgdUpdate{.gradient = gradient, .parameter = parameter, .learning_rate = sgd.learning_rate, .l2 = l2});
    } else if (sgd.rule == Rule::adam) {
      program.append(AdamUpdate{.gradient = gradient,
                                .rates = optimizer.rates,
                                .first_moment = add("first_moment"),
                                .second_moment = add("second_moment"),
                                .parameter = parameter,
                                .beta1 = sgd.beta1,
                                .beta2 = sgd.beta2,
                                .epsilon = sgd.epsilon,
                                .l2 = l2});
    } else {
      const bool has_velocity = sgd.rule == Rule::momentum;
      program.append(MomentumUpdate{.gradient = gradient,
                                    .rates = optimizer.rates,
                                    .velocity = has_velocity ? add("velocity") : ValueId(),
                                    .parameter = parameter,
                                    .momentum = sgd.momentum,
                                    .l2 = l2});
    }
  }
}

}  // namespace stagewise
