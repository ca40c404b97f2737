#include "training/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

template <typename T>
std::vector<ParameterValues> copy_parameters_out(Network<T>& network) {
  return copy_parameters_out(network, network.model.parameters);
}

template <typename T>
std::vector<ParameterValues> copy_parameters_out(Network<T>& network,
                                                 const std::vector<ValueId>& ids) {
  std::vector<ParameterValues> result;
  std::vector<T> buffer;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const Value& parameter = network.model[network.model.parameters[k]];
    buffer.resize(static_cast<std::size_t>(parameter.shape.elements()));
    network.executor->copy_out(buffer.data(), network.executor->data(ids[k]),
                               buffer.size() * sizeof(T));
    result.push_back({.name = parameter.name,
                      .shape = parameter.shape,
                      .values = std::vector<double>(buffer.begin(), buffer.end())});
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
    const auto given = std::find_if(values.begin(), values.end(), [&](const auto& candidate) {
      return candidate.name == parameter.name;
    });
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
void copy_parameters_in(Network<T>& network, const std::vector<ParameterValues>& values,
                        const std::string& source) {
  copy_parameters_in(network, network.model.parameters, values, source);
}

template <typename T>
void copy_parameters_in(Network<T>& network, const std::vector<ValueId>& ids,
                        const std::vector<ParameterValues>& values, const std::string& source) {
  std::vector<T> buffer;
  const std::vector<ParameterValues> ordered = in_order_of(network.model, values, source);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    buffer.resize(ordered[k].values.size());
    std::transform(ordered[k].values.begin(), ordered[k].values.end(), buffer.begin(),
                   [](double value) { return static_cast<T>(value); });
    network.executor->copy_in(network.executor->data(ids[k]), buffer.data(),
                              buffer.size() * sizeof(T));
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
  for (std::size_t i = 0; i < checkpoint.workers.size(); ++i) {
    check(checkpoint.workers[i], "worker " + std::to_string(i + 1) + " in " + source);
  }
}

template std::vector<ParameterValues> copy_parameters_out(Network<float>&);
template std::vector<ParameterValues> copy_parameters_out(Network<float>&,
                                                          const std::vector<ValueId>&);
template void copy_parameters_in(Network<float>&, const std::vector<ParameterValues>&,
                                 const std::string&);
template void copy_parameters_in(Network<float>&, const std::vector<ValueId>&,
                                 const std::vector<ParameterValues>&, const std::string&);
template std::vector<ParameterValues> copy_parameters_out(Network<double>&);
template std::vector<ParameterValues> copy_parameters_out(Network<double>&,
                                                          const std::vector<ValueId>&);
template void copy_parameters_in(Network<double>&, const std::vector<ParameterValues>&,
                                 const std::string&);
template void copy_parameters_in(Network<double>&, const std::vector<ValueId>&,
                                 const std::vector<ParameterValues>&, const std::string&);

}  // namespace stagewise
