/// @file
/// A test run that selects no test, for example because the test was renamed, must not pass.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fnmatch.h>
#include <gtest/gtest.h>

namespace stagewise {

/// The parts of a list such as GoogleTest's "Gemm*:Sum.*"; at least one, which may be empty.
inline std::vector<std::string> patterns_of(const std::string& list) {
  std::vector<std::string> patterns;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ':');) patterns.push_back(part);
  if (patterns.empty()) patterns.emplace_back();
  return patterns;
}

/// Whether a filter's part names a test of this program that the filter does not exclude.
inline bool names_a_test(const std::string& pattern, const std::vector<std::string>& excluded) {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string test = std::string(suite.name()) + "." + suite.GetTestInfo(j)->name();
      const auto matches = [&](const std::string& part) { return ::fnmatch(part.c_str(), test.c_str(), 0) == 0; };
      bool is_left = matches(pattern);
      for (const std::string& part : excluded) is_left = is_left && !matches(part);
      if (is_left) return true;
    }
  }
  return false;
}

/// The first part of a GoogleTest filter that selects no test; none if each part selects one.
inline std::optional<std::string> idle_part(const std::string& filter) {
  const std::size_t minus = filter.find('-');
  const std::string positive = filter.substr(0, minus);
  const std::vector<std::string> excluded = patterns_of(minus == std::string::npos ? "" : filter.substr(minus + 1));
  // As GoogleTest has it, "-Slow*" means all others.
  const std::string list = positive.empty() && minus == 0 ? "*" : positive;
  for (const std::string& pattern : patterns_of(list)) {
    if (!names_a_test(pattern, excluded)) return pattern;
  }
  return std::nullopt;
}

/// What is wrong with the filter that this program was started with, as a sentence; empty if
/// nothing. A program that only lists its tests may list none.
inline std::string filter_objection() {
  if (testing::GTEST_FLAG(list_tests)) return "";
  const std::optional<std::string> idle = idle_part(testing::GTEST_FLAG(filter));
  return idle ? "--gtest_filter: '" + *idle + "' selects no test of this program" : "";
}

}  // namespace stagewise
