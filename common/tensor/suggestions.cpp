#include "tensor/suggestions.hpp"

#include <algorithm>
#include <cstddef>

namespace stagewise {
namespace {

/// The fewest slips that make one text the other (Damerau 1964), no letter being touched twice.
std::size_t slips_between(const std::string& a, const std::string& b) {
  // slips[i][j]: between the first i letters of one and the first j of the other.
  std::vector<std::vector<std::size_t>> slips(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        slips[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      slips[i][j] =
          std::min({slips[i - 1][j] + 1, slips[i][j - 1] + 1, slips[i - 1][j - 1] + wrong});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
      }
    }
  }
  return slips[a.size()][b.size()];
}

}  // namespace

std::string suggestion(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;
  if (text.size() > longest) return "";
  std::string best;
  std::size_t fewest = text.size() > 8 ? 3 : 2;  // one more than are forgiven
  for (const std::string& name : names) {
    const std::size_t slips = slips_between(text, name);
    if (slips >= fewest || slips >= name.size()) continue;
    fewest = slips;
    best = name;
  }
  return best;
}

std::string did_you_mean(const std::string& text, const std::vector<std::string>& names) {
  const std::string name = suggestion(text, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace stagewise
