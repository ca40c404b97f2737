#include "data/check_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

std::string place_in(const Origin& origin, Index sample, Index feature) {
  if (origin.columns.empty()) {
    return origin.name + ", " + origin.sample + " " + std::to_string(sample) + ", value " +
           std::to_string(feature) + " (counted from 0)";
  }
  return origin.name + ", row " + std::to_string(origin.first_row + sample + 1) +
         " below the header, column " +
         excerpt(origin.columns.at(static_cast<std::size_t>(feature)));
}

void expect_to_hold(const std::string& precision, const Dataset& dataset, const Origin& origin) {
  if (dataset.values() == nullptr) return;
  const bool is_float = precision == "float";
  const double most = is_float ? static_cast<double>(std::numeric_limits<float>::max())
                               : std::numeric_limits<double>::max();
  const std::vector<double>& values = *dataset.values();
  const auto bad = std::find_if(values.begin(), values.end(), [most](double value) {
    return !(std::abs(value) <= most);  // also of a NaN
  });
  if (bad == values.end()) return;
  const Index width = dataset.sample_shape().elements();
  const Index at = bad - values.begin();
  throw Error(place_in(origin, at / width, at % width) + ": the value " +
              (origin.columns.empty() ? "is " : "becomes, standardized, ") + rounded(*bad) +
              ", and " + precision + " holds numbers up to " + rounded(most) +
              (is_float && std::isfinite(*bad) ? "; --precision double holds larger ones" : ""));
}

}  // namespace stagewise
