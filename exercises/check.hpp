/// @file
/// What the checks of exercises are written with. A check includes the learner's file, says what is
/// right, and ends with the first sentence about what is not. Those with kernels include
/// check_cuda.hpp, those of several processes check_mpi.hpp.
///
/// What is declared here and there is compiled once, and linked with every check (exercise.py).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace exercise {

/// Each exercise's own. In this namespace, names such as text() are those of the check, also if the
/// learner's file has them.
void check();

/// What the learner's function is called for: "For 12 numbers".
extern std::string current_case;

/// What is right so far.
void pass(const std::string& what);

/// "4", "4.5", "0.25", "15708", "nan"; "not set" for what nobody has written.
std::string text(double number);
inline std::string text(const char* words) {
  return words;
}
inline const std::string& text(const std::string& words) {
  return words;
}

/// A sentence of words and numbers.
template <class... Parts>
std::string say(const Parts&... parts) {
  return (std::string() + ... + text(parts));
}

/// "1 thread", "2 threads".
std::string several(double number, const std::string& word);

/// Ends the check with a sentence about what is wrong, in the terms of the lesson.
[[noreturn]] void end_with(const std::string& sentence);
/// The same, of words and numbers.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  end_with(say(parts...));
}
template <class... Parts>
void expect(bool holds, const Parts&... parts) {
  if (!holds) fail(parts...);
}

/// Multiples of 1/8 between -2 and 2: floats add up thousands of their products exactly, in any
/// order, so that a result is right or wrong, and never only nearly so.
std::vector<float> numbers(std::size_t count, unsigned seed = 1);

/// C = A B, of m x k and k x n numbers.
std::vector<float> product_of(int m, int n, int k, const std::vector<float>& a,
                              const std::vector<float>& b);

/// "[7]"; "[1, 2]" in rows of `columns`.
std::string place_of(std::size_t index, std::size_t columns);

/// Ends the check if results are NaN, as memory is that nobody has written.
/// @param reason ": there is no thread for them".
void expect_set(const std::vector<float>& got, const std::string& what, std::size_t columns = 0,
                const std::string& reason = "");

/// Compares results, in rows of `columns` if that is not 0.
/// @param what names the case: "For 37 x 53".
/// @param tolerance largest absolute difference
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& expected,
                  const std::string& what, std::size_t columns = 0, double tolerance = 0) {
  expect(got.size() == expected.size(), what, ", there are ", got.size(), " results instead of ",
         expected.size(), ".");
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    const double difference = static_cast<double>(got[i]) - static_cast<double>(expected[i]);
    if (difference <= tolerance && difference >= -tolerance) continue;  // false for NaN
    ++wrong;
    first = i;
  }
  if (wrong == 0) return;
  fail(what, ", ", wrong, " of ", expected.size(), " results are wrong: the first, ",
       place_of(first, columns), ", is ", got[first], " instead of ", expected[first], ".");
}

/// Compares a constant with what has been counted, without giving it away.
/// @param thought how to get to the number.
void expect_predicted(const std::string& name, double predicted, double counted,
                      const std::string& thought);

}  // namespace exercise
