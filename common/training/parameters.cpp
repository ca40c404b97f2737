#include "training/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

std::vector<ParameterValues> in_order_of(const Model& model, const std::vector<ParameterValues>& values,
                                         const std::string& source) {
  for (const ParameterValues& given : values) {
    if (std::none_of(model.parameters.begin(), model.parameters.end(),
                     [&](ValueId id) { return model[id].name == given.name; })) {
      throw Error(source + " holds a parameter " + in_quotes(given.name) + " that this network does not have");
    }
  }
  std::vector<ParameterValues> result;
  for (const ValueId id : model.parameters) {
    const Value& parameter = model[id];
    const auto given = std::ranges::find(values, parameter.name, &ParameterValues::name);
    if (given == values.end()) {
      throw Error(source + " holds no parameter '" + parameter.name + "', which this network needs");
    }
    if (given->shape != parameter.shape) {
      throw Error("the parameter " + in_quotes(parameter.name) + " of " + source + " has shape " +
                  given->shape.to_string() + ", but this network needs " + parameter.shape.to_string());
    }
    result.push_back(*given);
  }
  return result;
}

double squared_norm_of_weights(const std::vector<ParameterValues>& values) {
  double sum = 0;
  for (const ParameterValues& parameter : values) {
    if (parameter.name.ends_with("bias")) continue;
    for (const double value : parameter.values) sum += value * value;
  }
  return sum;
}

const ParameterValues* find_non_finite(const std::vector<ParameterValues>& values) {
  const auto found = std::find_if(values.begin(), values.end(), [](const auto& parameter) {
    return !std::all_of(parameter.values.begin(), parameter.values.end(),
                        [](double value) { return std::isfinite(value); });
  });
  return found == values.end() ? nullptr : &*found;
}

void expect_finite(const Checkpoint& checkpoint, const std::string& source) {
  const auto check = [](const std::vector<ParameterValues>& values, const std::string& whose) {
    const ParameterValues* const bad = find_non_finite(values);
    if (bad == nullptr) return;
    const auto value =
        std::find_if(bad->values.begin(), bad->values.end(), [](double number) { return !std::isfinite(number); });
    throw Error("the parameter " + in_quotes(bad->name) + " of " + whose + " is " +
                (std::isnan(*value) ? "NaN" : "infinite") + " in its value number " +
                std::to_string(value - bad->values.begin()) + " (counted from 0), so the network is of no use");
  };
  check(checkpoint.parameters, source);
  check(checkpoint.optimizer, "the optimizer in " + source);
  for (std::size_t i = 0; i < checkpoint.workers.size(); ++i) {
    check(checkpoint.workers[i], "worker " + std::to_string(i + 1) + " in " + source);
  }
}

}  // namespace stagewise
