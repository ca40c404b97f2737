#include "check.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace exercise {

std::string current_case;

std::string text(double number) {
  if (std::isnan(number)) {  // memory is filled with ones, and so remain the digits of a NaN that
                             // is computed with
    constexpr std::uint64_t ones = 0xfffffe0000000;
    return (std::bit_cast<std::uint64_t>(number) & ones) == ones ? "not set" : "nan";
  }
  char buffer[40];
  const bool is_whole = number == std::floor(number) && std::abs(number) < 1e9;
  std::snprintf(buffer, sizeof buffer, is_whole ? "%.0f" : "%.4g", number);
  return buffer;
}

std::string several(double number, const std::string& word) {
  return say(number, " ", word, number == 1 ? "" : "s");
}

void pass(const std::string& what) {
  std::printf("ok    %s\n", what.c_str());
  std::fflush(stdout);
}

void end_with(const std::string& sentence) {
  std::printf("fail  %s\n", sentence.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(count);
  for (float& number : result) {
    number = static_cast<float>(static_cast<int>(random() % 33) - 16) / 8;
  }
  return result;
}

std::vector<float> product_of(int m, int n, int k, const std::vector<float>& a,
                              const std::vector<float>& b) {
  std::vector<float> c(m * n);
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) {
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return c;
}

std::string place_of(std::size_t index, std::size_t columns) {
  return columns == 0 ? say("[", index, "]")
                      : say("[", index / columns, ", ", index % columns, "]");
}

void expect_set(const std::vector<float>& got, const std::string& what, std::size_t columns,
                const std::string& reason) {
  const auto is_unset = [](float number) { return std::isnan(number); };
  const auto unset = std::count_if(got.begin(), got.end(), is_unset);
  if (unset == 0) return;
  const auto first = std::find_if(got.begin(), got.end(), is_unset) - got.begin();
  fail(what, ", ", unset, " of ", got.size(), " results have not been set, the first is ",
       place_of(first, columns), reason, ".");
}

void expect_predicted(const std::string& name, double predicted, double counted,
                      const std::string& thought) {
  if (predicted == counted) return;
  if (name.ends_with("bytes") && predicted > 8 && 4 * predicted == counted) {
    fail(name, " is ", predicted, ", the number of floats: each of them has four bytes.");
  }
  fail(name, " is ", predicted, ", which is too ", predicted < counted ? "small" : "large", ": ",
       thought);
}

}  // namespace exercise
