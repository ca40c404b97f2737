/// @file
/// How parameters follow their gradients, and how far in which step.
#pragma once

#include <cstdint>
#include <vector>

#include "network/program.hpp"

namespace stagewise {

/// The rule of an update.
enum class Rule : std::uint8_t {
  sgd,       ///< stochastic gradient descent: SgdUpdate
  momentum,  ///< the same with momentum (Polyak, 1964): MomentumUpdate
  adam       ///< Kingma and Ba, 2015: AdamUpdate
};

/// How the learning rate falls in the course of a training.
enum class Decay : std::uint8_t {
  constant,  ///< not at all
  step,      ///< to a tenth after half of the steps, to a hundredth after three quarters (He et al.,
             ///< 2016)
  cosine     ///< along half a cosine wave to 0 (Loshchilov and Hutter, 2017, without restarts)
};

/// The learning rate of each step, relative to Sgd::learning_rate.
struct Schedule {
  Decay decay = Decay::constant;
  std::int64_t warmup = 0;  ///< in so many steps, the rate rises linearly; then the decay begins
  std::int64_t steps = 0;   ///< of the whole training
};

/// How gradients update the parameters: stochastic gradient descent and its variants.
struct Sgd {
  double learning_rate = 0.1;
  double l2 = 0;  ///< applies to weights and filters, never to biases
  Rule rule = Rule::sgd;
  double momentum = 0.9;
  double beta1 = 0.9;  ///< of Adam, like the two below
  double beta2 = 0.999;
  double epsilon = 1e-8;
  Schedule schedule = {};
};

/// Whether every step is computed alike: its update keeps nothing, and its rate never changes.
bool is_plain(const Sgd& sgd);

/// The learning rate of a step.
/// @param step counted from 1, over all epochs.
double learning_rate_of(const Sgd& sgd, std::int64_t step);

/// What the updates of `count` steps read.
/// @param before the number of steps before them, over all epochs.
std::vector<StepRates> rates_of_steps(const Sgd& sgd, std::int64_t before, std::int64_t count);

/// The updates of a program: their rule, and the values that they need besides parameters and
/// gradients.
struct Optimizer {
  Sgd sgd;
  ValueId rates = {};                ///< those of the current step; none if the rate never changes
  std::vector<ValueId> states = {};  ///< in the order of the parameters
};

/// Appends the update of each parameter by its gradient. What an update keeps of its parameter from
/// step to step becomes a value, "velocity/fc1/weight", and is added to `optimizer`.
/// @param gradients in the order of the parameters; none where no loss depends on a parameter.
void append_updates(Program& program, const std::vector<ValueId>& parameters, const std::vector<ValueId>& gradients,
                    Optimizer& optimizer);

}  // namespace stagewise
