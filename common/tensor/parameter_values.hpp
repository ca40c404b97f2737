/// @file
/// A parameter's values on the host.
#pragma once

#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// The values of a parameter on the host, always in double: every float is a double.
struct ParameterValues {
  std::string name;  ///< "fc1/weight"
  Shape shape;
  std::vector<double> values;
};

}  // namespace stagewise
