/// @file
/// The main function of the test programs: GoogleTest's, plus the reasons for skipped cases, and an
/// error if the filter selects nothing.

#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "idle_filter.hpp"

namespace {

/// What CTest takes for "skipped" (SKIP_RETURN_CODE).
constexpr int all_skipped = 77;

/// Says of every skipped case why, in a line that `./run.sh test` collects.
class SkipReasons final : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    if (!result.Skipped()) return;
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      if (!part.skipped()) continue;
      std::string reason = part.message();
      reason = reason.substr(0, reason.find('\n'));
      std::cout << "skipped: " << test.test_suite_name() << '.' << test.name() << ": " << reason << std::endl;
      return;
    }
  }
};

}  // namespace

// GoogleTest's own exceptions would end the program, as they should.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const std::string objection = stagewise::filter_objection(); !objection.empty()) {
    std::cerr << objection << ".\n";
    return 1;
  }
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  tests.listeners().Append(new SkipReasons);
  const int code = RUN_ALL_TESTS();
  const bool none_ran = tests.skipped_test_count() > 0 && tests.successful_test_count() == 0;
  return code == 0 && none_ran ? all_skipped : code;
}
