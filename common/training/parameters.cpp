#include "training/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

template <typename T>
ParameterValues copy_out(Executor<T>& executor, ValueId id, const std::string& name,
                         const Shape& shape) {
  std::vector<T> buffer(static_cast<std::size_t>(shape.elements()));
  executor.copy_out(buffer.data(), executor.data(id), buffer.size() * sizeof(T));
  return {.name = name, .shape = shape, .values = {buffer.begin(), buffer.end()}};
}

template <typename T>
void copy_in(Executor<T>& executor, ValueId id, const std::vector<double>& values) {
  std::vector<T> buffer(values.size());
  std::transform(values.begin(), values.end(), buffer.begin(),
                 [](double value) { return static_cast<T>(value); });
  executor.copy_in(executor.data(id), buffer.data(), buffer.size() * sizeof(T));
}

template <typename T>
std::vector<ParameterValues> copy_parameters_out(Network<T>& network,
                                                 const std::vector<ValueId>& ids) {
  std::vector<ParameterValues> result;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const Value& parameter = network.model[network.model.parameters[k]];
    result.push_back(copy_out(*network.executor, ids[k], parameter.name, parameter.shape));
  }
  return result;
}

std::vector<ParameterValues> in_order_of(const Model& model,
                                         const std::vector<ParameterValues>& values,
                                         const std::string& source) {
  for (const ParameterValues& given : values) {
    if (std::none_of(model.parameters.begin(), model.parameters.end(),
                     [&](ValueId id) { return model[id].name == given.name; })) {
      throw Error(source + " holds a parameter " + in_quotes(given.name) +
                  " that this network does not have");
    }
  }
  std::vector<ParameterValues> result;
  for (const ValueId id : model.parameters) {
    const Value& parameter = model[id];
    const auto given = std::ranges::find(values, parameter.name, &ParameterValues::name);
    if (given == values.end()) {
      throw Error(source + " holds no parameter '" + parameter.name +
                  "', which this network needs");
    }
    if (given->shape != parameter.shape) {
      throw Error("the parameter " + in_quotes(parameter.name) + " of " + source + " has shape " +
                  given->shape.to_string() + ", but this network needs " +
                  parameter.shape.to_string());
    }
    result.push_back(*given);
  }
  return result;
}

template <typename T>
void copy_parameters_in(Network<T>& network, const std::vector<ValueId>& ids,
                        const std::vector<ParameterValues>& values, const std::string& source) {
  const std::vector<ParameterValues> ordered = in_order_of(network.model, values, source);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    copy_in(*network.executor, ids[k], ordered[k].values);
  }
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
    const auto value = std::find_if(bad->values.begin(), bad->values.end(),
                                    [](double number) { return !std::isfinite(number); });
    throw Error("the parameter " + in_quotes(bad->name) + " of " + whose + " is " +
                (std::isnan(*value) ? "NaN" : "infinite") + " in its value number " +
                std::to_string(value - bad->values.begin()) +
                " (counted from 0), so the network is of no use");
  };
  check(checkpoint.parameters, source);
  check(checkpoint.optimizer, "the optimizer in " + source);
  for (std::size_t i = 0; i < checkpoint.workers.size(); ++i) {
    check(checkpoint.workers[i], "worker " + std::to_string(i + 1) + " in " + source);
  }
}

template ParameterValues copy_out(Executor<float>&, ValueId, const std::string&, const Shape&);
template ParameterValues copy_out(Executor<double>&, ValueId, const std::string&, const Shape&);
template void copy_in(Executor<float>&, ValueId, const std::vector<double>&);
template void copy_in(Executor<double>&, ValueId, const std::vector<double>&);
template std::vector<ParameterValues> copy_parameters_out(Network<float>&,
                                                          const std::vector<ValueId>&);
template void copy_parameters_in(Network<float>&, const std::vector<ValueId>&,
                                 const std::vector<ParameterValues>&, const std::string&);
template std::vector<ParameterValues> copy_parameters_out(Network<double>&,
                                                          const std::vector<ValueId>&);
template void copy_parameters_in(Network<double>&, const std::vector<ValueId>&,
                                 const std::vector<ParameterValues>&, const std::string&);

}  // namespace stagewise
