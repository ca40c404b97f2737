#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command.hpp"

// Runs the program `mistakes` for every mistake and its cure. CMake defines MISTAKES, the
// program, and MISTAKES_TEXTS, the folder with what it is to say.

namespace cuda_on_cpu {
namespace {

namespace fs = std::filesystem;

#ifdef __SANITIZE_ADDRESS__
constexpr bool has_sanitizer = true;
#else
constexpr bool has_sanitizer = false;
#endif

using Variables = std::map<std::string, std::optional<std::string>>;

struct Mistake {
  std::string name;
  Variables variables = {};        ///< that it needs to be seen
  bool sanitizer_differs = false;  ///< AddressSanitizer sees it first, or stacks differ
  bool any_line = false;           ///< of its snippet may be named
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> table = {
      {"barrier_divergence"},
      {"beyond_allocation"},
      {"beyond_dynamic_shared"},
      {"copy_beyond"},
      {"different_barriers"},
      {"double_free"},
      {"failed_assertion"},
      {"host_access", {{"STAGEWISE_CPU_PROTECT", "on"}}},
      {"late_error"},
      {"misaligned", {}, true},
      {"missing_barrier", {{"STAGEWISE_CPU_THREAD_ORDER", "reverse"}}},
      {"missing_event", {{"STAGEWISE_CPU_STREAMS", "lazy"}}},
      {"missing_lanes"},
      {"missing_wait", {{"STAGEWISE_CPU_STREAMS", "lazy"}}},
      {"null_pointer", {}, true},
      {"row_above"},
      {"shuffle_outside_mask"},
      {"stack_overflow", {}, true, true},
      {"too_many_threads"},
      {"beyond_launch_bounds"},
      {"too_much_shared"},
      {"unchecked_launch"},
      {"uninitialized"},
      {"use_after_free"},
      {"wild_index", {}, true},
      {"wrong_direction"},
  };
  return table;
}

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << mistake.name;
}

Ending outcome_of(const std::vector<std::string>& arguments, const Variables& variables) {
  // One worker, so that the first error is always the same one.
  Variables all = {{"STAGEWISE_CPU_WORKERS", "1"},
                   {"STAGEWISE_CPU_PROTECT", std::nullopt},
                   {"STAGEWISE_CPU_STREAMS", std::nullopt},
                   {"STAGEWISE_CPU_STRICT_BARRIERS", std::nullopt},
                   {"STAGEWISE_CPU_THREAD_ORDER", std::nullopt}};
  for (const auto& [name, value] : variables) all[name] = value;
  std::vector<std::string> words = {MISTAKES};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(fs::temp_directory_path(), words, all);
}

std::string expected_text(const std::string& name) {
  return read_file(fs::path(MISTAKES_TEXTS) / (name + ".txt"));
}

/// Addresses vary from run to run.
std::string without_addresses(const std::string& text) {
  return std::regex_replace(text, std::regex("0x[0-9a-f]{9,}"), "0x7f...");
}

/// The lines of a mistake's snippet that contain a text, as "memory.cu:31:".
std::vector<std::string> places_of(const std::string& snippet, const std::string& text) {
  std::ifstream file(fs::path(MISTAKES_TEXTS) / "memory.cu");
  std::vector<std::string> places;
  std::string line;
  bool inside = false;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    if (line == "//! [" + snippet + "]") inside = !inside;
    if (inside && line.find(text) != std::string::npos) {
      places.push_back("memory.cu:" + std::to_string(number) + ":");
    }
  }
  return places;
}

/// Which line of a function needs more stack than there is, the compiler decides: every line of the
/// snippet becomes the one that the documentation shows.
std::string with_documented_line(std::string text, const std::string& name) {
  std::smatch documented;
  const std::string expected = expected_text(name);
  if (!std::regex_search(expected, documented, std::regex("memory\\.cu:[0-9]+:"))) return text;
  for (const std::string& place : places_of(name, "")) {
    text = std::regex_replace(text, std::regex(place), documented.str());
  }
  return text;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, IsReportedInTheSentenceOfTheDocumentation) {
  const Mistake& mistake = GetParam();
#ifdef __clang__
  if (mistake.name == "misaligned") GTEST_SKIP() << "clang does not check the copy of a vector";
#endif
  const Ending outcome = outcome_of({mistake.name}, mistake.variables);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  if (has_sanitizer && mistake.sanitizer_differs) {
    for (const std::string part : {"kernel '", "', block (0, 0, 0), thread (", ".cu"}) {
      expect_contains(outcome.err, part);
    }
    return;
  }
  EXPECT_EQ(outcome.exit_code, 1);
  const std::string said = without_addresses(outcome.err);
  EXPECT_EQ(mistake.any_line ? with_documented_line(said, mistake.name) : said,
            expected_text(mistake.name));
}

TEST_P(Mistakes, CuredNothingIsReported) {
  const Mistake& mistake = GetParam();
  for (const std::string order : {"forward", "reverse", "random"}) {
    for (const std::string streams : {"eager", "lazy"}) {
      if (has_sanitizer && (order == "forward") != (streams == "eager")) continue;  // takes long
      SCOPED_TRACE(order + ", " + streams);
      Variables variables = mistake.variables;
      variables["STAGEWISE_CPU_THREAD_ORDER"] = order;
      variables["STAGEWISE_CPU_STREAMS"] = streams;
      const Ending outcome = outcome_of({mistake.name, "--cured"}, variables);
      EXPECT_EQ(outcome.exit_code, 0);
      EXPECT_EQ(outcome.err, "");
    }
  }
}

std::string name_of(const testing::TestParamInfo<Mistake>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(mistakes()), name_of);

TEST(HiddenMistakes, ShowOnlyInTheRightSurroundings) {
  for (const Mistake& mistake : mistakes()) {
    if (mistake.variables.empty()) continue;
    EXPECT_EQ(outcome_of({mistake.name}, {}).exit_code, 0) << mistake.name;
  }
  for (const std::string seed : {"1", "2", "3"}) {
    const Ending outcome =
        outcome_of({"missing_barrier"},
                   {{"STAGEWISE_CPU_THREAD_ORDER", "random"}, {"STAGEWISE_CPU_SEED", seed}});
    EXPECT_EQ(outcome.exit_code, 1) << seed;
    expect_contains(outcome.err, "is nan, but should be");
  }
}

TEST(HiddenMistakes, AddressSanitizerSeesAnAccessBeyondSharedMemory) {
  if (!has_sanitizer) GTEST_SKIP() << "this takes the preset asan";
  const Ending outcome = outcome_of({"beyond_shared"}, {});
  EXPECT_NE(outcome.exit_code, 0);
  expect_contains(outcome.err, "kernel 'differences', block (0, 0, 0), thread (63, 0, 0)");
  const std::vector<std::string> places = places_of("beyond_shared", "= x[i + 1]");
  ASSERT_EQ(places.size(), 1U);
  expect_contains(outcome.err, places[0]);
  EXPECT_EQ(outcome_of({"beyond_shared", "--cured"}, {}).err, "");
}

TEST(MistakesProgram, ListsItsMistakes) {
  const Ending outcome = outcome_of({"none"}, {});
  EXPECT_EQ(outcome.exit_code, 2);
  for (const Mistake& mistake : mistakes())
    expect_contains(outcome.err, "  " + mistake.name + "\n");
}

}  // namespace
}  // namespace cuda_on_cpu
