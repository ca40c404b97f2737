#include "verify/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// x / y, where 0 / 0 is 0.
double ratio(double x, double y) { return x == 0 ? 0 : x / y; }

/// Compares the values one by one: sets everything in the result except the L2 norm. @return the
/// largest absolute value of both; NaN if any value is not finite.
double compare_elements(const ParameterValues& a, const ParameterValues& b, Difference& result) {
  double largest = 0;
  double largest_difference = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i];
    const double y = b.values[i];
    result.finite = std::isfinite(x) && std::isfinite(y);
    const double difference = std::abs(x - y);
    if (!result.finite || difference > largest_difference || i == 0) {
      largest_difference = difference;
      result.worst = static_cast<Index>(i);
      result.a = x;
      result.b = y;
    }
    if (!result.finite) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max({largest, std::abs(x), std::abs(y)});
  }
  result.max_norm = ratio(largest_difference, largest);
  return largest;
}

Difference compare(const ParameterValues& a, const ParameterValues& b) {
  Difference result{.name = a.name};
  const double largest = compare_elements(a, b, result);
  if (!result.finite) {
    result.max_norm = std::numeric_limits<double>::quiet_NaN();
    result.l2_norm = result.max_norm;
    return result;
  }
  double squares_a = 0;
  double squares_b = 0;
  double squares_of_difference = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    // Scaled by the largest value, so that no relevant square overflows or underflows.
    const double x = ratio(a.values[i], largest);
    const double y = ratio(b.values[i], largest);
    squares_a += x * x;
    squares_b += y * y;
    squares_of_difference += (x - y) * (x - y);
  }
  result.l2_norm = std::sqrt(ratio(squares_of_difference, std::max(squares_a, squares_b)));
  return result;
}

}  // namespace

std::vector<Difference> compare_parameters(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b,
                                           const std::string& name_a, const std::string& name_b) {
  for (const ParameterValues& parameter : b) {
    if (std::ranges::find(a, parameter.name, &ParameterValues::name) == a.end()) {
      throw Error("only " + name_b + " has a parameter " + in_quotes(parameter.name));
    }
  }
  std::vector<Difference> differences;
  for (const ParameterValues& parameter : a) {
    const auto other = std::ranges::find(b, parameter.name, &ParameterValues::name);
    if (other == b.end()) {
      throw Error("only " + name_a + " has a parameter " + in_quotes(parameter.name));
    }
    if (parameter.shape != other->shape) {
      throw Error("the parameter " + in_quotes(parameter.name) + " has shape " + parameter.shape.to_string() + " in " +
                  name_a + " and " + other->shape.to_string() + " in " + name_b);
    }
    differences.push_back(compare(parameter, *other));
  }
  return differences;
}

double largest_difference(const std::vector<Difference>& differences) {
  double largest = 0;
  for (const Difference& difference : differences) {
    if (!difference.finite) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, difference.max_norm);
  }
  return largest;
}

std::string place_of(Index element, const Shape& shape) {
  std::string place = "]";
  for (int i = shape.rank() - 1; i >= 0; --i) {
    place = std::to_string(element % shape[i]) + place;
    if (i > 0) place = ", " + place;
    element /= shape[i];
  }
  return "[" + place;
}

}  // namespace stagewise
