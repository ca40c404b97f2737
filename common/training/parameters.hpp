/// @file
/// Copying a network's parameters to the host and back.
#pragma once

#include <string>
#include <vector>

#include "io/checkpoint.hpp"
#include "training/network.hpp"

namespace stagewise {

/// Copies a value of a loaded program to the host.
template <typename T>
ParameterValues copy_out(Executor<T>& executor, ValueId id, const std::string& name, const Shape& shape) {
  std::vector<T> buffer(static_cast<std::size_t>(shape.elements()));
  executor.copy_out(buffer.data(), executor.data(id), buffer.size() * sizeof(T));
  return {.name = name, .shape = shape, .values = {buffer.begin(), buffer.end()}};
}

/// Sets such a value.
/// @param values as many as it has elements.
template <typename T>
void copy_in(Executor<T>& executor, ValueId id, const std::vector<double>& values) {
  const std::vector<T> buffer(values.begin(), values.end());
  executor.copy_in(executor.data(id), buffer.data(), buffer.size() * sizeof(T));
}

/// Copies the parameters of a worker to the host.
/// @param ids their values, in the order of the model's parameters.
template <typename T>
std::vector<ParameterValues> copy_parameters_out(Network<T>& network, const std::vector<ValueId>& ids) {
  std::vector<ParameterValues> result;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const Value& parameter = network.model[network.model.parameters[k]];
    result.push_back(copy_out(*network.executor, ids[k], parameter.name, parameter.shape));
  }
  return result;
}

/// Likewise all parameters of the model.
template <typename T>
std::vector<ParameterValues> copy_parameters_out(Network<T>& network) {
  return copy_parameters_out(network, network.model.parameters);
}

/// The values in the order of the model's parameters.
/// @throws Error unless names and shapes are exactly the model's.
std::vector<ParameterValues> in_order_of(const Model& model, const std::vector<ParameterValues>& values,
                                         const std::string& source);

/// Sets the parameters of a worker, by name.
/// @param source where these values come from, for the error message: "the checkpoint model.h5".
/// @throws Error unless names and shapes are exactly the model's.
template <typename T>
void copy_parameters_in(Network<T>& network, const std::vector<ValueId>& ids,
                        const std::vector<ParameterValues>& values, const std::string& source) {
  const std::vector<ParameterValues> ordered = in_order_of(network.model, values, source);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    copy_in(*network.executor, ids[k], ordered[k].values);
  }
}

/// Likewise all parameters of the model.
template <typename T>
void copy_parameters_in(Network<T>& network, const std::vector<ParameterValues>& values, const std::string& source) {
  copy_parameters_in(network, network.model.parameters, values, source);
}

/// The sum of the squares of all weights and filters, without biases: the factor of l2.
double squared_norm_of_weights(const std::vector<ParameterValues>& values);

/// @throws Error naming the first parameter, including those of workers, that is NaN or infinite.
/// @param source "the checkpoint model.h5".
void expect_finite(const Checkpoint& checkpoint, const std::string& source);

/// The first parameter with a value that is NaN or infinite; null if there is none.
const ParameterValues* find_non_finite(const std::vector<ParameterValues>& values);

}  // namespace stagewise
