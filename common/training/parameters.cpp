#include "training/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

template <typename T>
std::vector<ParameterValues> copy_parameters_out(Graph<T>& graph) {
  std::vector<ParameterValues> result;
  std::vector<T> buffer;
  for (Parameter<T>* const parameter : graph.parameters()) {
    buffer.resize(static_cast<std::size_t>(parameter->elements()));
    graph.backend().copy_out(buffer.data(), parameter->value(), buffer.size() * sizeof(T));
    result.push_back({.name = parameter->name(),
                      .shape = parameter->sample_shape(),
                      .values = std::vector<double>(buffer.begin(), buffer.end())});
  }
  return result;
}

template <typename T>
void copy_parameters_in(Graph<T>& graph, const std::vector<ParameterValues>& values,
                        const std::string& source) {
  for (const ParameterValues& given : values) {
    const auto& wanted = graph.parameters();
    if (std::none_of(wanted.begin(), wanted.end(),
                     [&](const auto* parameter) { return parameter->name() == given.name; })) {
      throw Error(source + " holds a parameter " + in_quotes(given.name) +
                  " that this network does not have");
    }
  }
  std::vector<T> buffer;
  for (Parameter<T>* const parameter : graph.parameters()) {
    const auto given = std::find_if(values.begin(), values.end(), [&](const auto& candidate) {
      return candidate.name == parameter->name();
    });
    if (given == values.end()) {
      throw Error(source + " holds no parameter '" + parameter->name() +
                  "', which this network needs");
    }
    if (given->shape != parameter->sample_shape()) {
      throw Error("the parameter " + in_quotes(parameter->name()) + " of " + source +
                  " has shape " + given->shape.to_string() + ", but this network needs " +
                  parameter->sample_shape().to_string());
    }
    buffer.resize(given->values.size());
    std::transform(given->values.begin(), given->values.end(), buffer.begin(),
                   [](double value) { return static_cast<T>(value); });
    graph.backend().copy_in(parameter->value(), buffer.data(), buffer.size() * sizeof(T));
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

template std::vector<ParameterValues> copy_parameters_out(Graph<float>&);
template std::vector<ParameterValues> copy_parameters_out(Graph<double>&);
template void copy_parameters_in(Graph<float>&, const std::vector<ParameterValues>&,
                                 const std::string&);
template void copy_parameters_in(Graph<double>&, const std::vector<ParameterValues>&,
                                 const std::string&);

}  // namespace stagewise
