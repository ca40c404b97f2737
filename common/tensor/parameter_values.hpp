/// @file
/// A parameter's values on the host.
#pragma once

#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// The values of a parameter on the host, in double whatever they were computed in: every float is
/// a double.
struct ParameterValues {
  std::string name;  ///< "fc1/weight"
  Shape shape;
  std::vector<double> values;
};

}  // namespace stagewise
