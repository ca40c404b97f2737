// The program that runs ladders.

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Ladders : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }

  bool is_emulated() { return report_of("ladder reduce --n 1").at("cuda_on_cpu"); }

  /// What a command's --rung takes, but for all, from its help text.
  std::vector<std::string> rungs_of(const std::string& ladder) {
    std::vector<std::string> rungs;
    std::istringstream words(between(run_well("ladder " + ladder + " --help"), "--rung NAME", "[all]"));
    for (std::string word; words >> word;) {
      if (word.ends_with(',')) word.pop_back();
      if (word != "all") rungs.push_back(word);
    }
    return rungs;
  }

  /// The rows of a command's first table that were not skipped.
  std::vector<json> rows_of(const std::string& command, std::size_t table = 0) {
    std::vector<json> rows;
    const json report = report_of("ladder " + command);
    for (const json& row : report.at("tables").at(table).at("rows")) {
      if (!row.contains("skipped")) rows.push_back(row);
    }
    return rows;
  }
};

TEST_F(Ladders, AllRungsAreVerified) {
  for (const std::string arguments :
       {"gemm --m 33 --n 65 --k 17 --transpose-a --transpose-b --alpha -1.5 --beta .5",
        "gemm --m 5 --n 70 --k 131 --precision double --beta -5 --transpose-b", "reduce --n 10007",
        "reduce --m 67 --n 301 --precision double", "transpose --m 67 --n 131",
        "convolution --images 3 --size 9 --channels 3 --filter 4 --filters 7",
        "convolution --images 5 --size 12 --channels 4 --filters 8 --precision double"}) {
    const std::string output = run_well("ladder " + arguments + " --repetitions 0 --report report.json");
    for (const std::string& rung : rungs_of(words_of(arguments).front())) {
      expect_contains(output, "\n" + rung + " ");
    }
    EXPECT_EQ(count(output, "\033") + count(output, "DIFFERS"), 0) << output;
    expect_narrow(output);
    int rows = 0;
    const json report = json::parse(text("report.json"));
    for (const json& table : report.at("tables")) {
      for (const json& row : table.at("rows")) {
        EXPECT_FALSE(row.contains("seconds")) << "no time is wanted: " << row;
        if (row.contains("skipped")) continue;
        EXPECT_TRUE(row.at("verified").get<bool>()) << row;
        EXPECT_LE(row.at("worst_difference"), row.at("worst_difference_bound")) << row;
        ++rows;
      }
    }
    EXPECT_GT(rows, 0) << arguments;
  }
}

TEST_F(Ladders, ARungRunsByItsName) {
  for (const auto& [ladder, sizes] : Sayings{{"gemm", " --m 9 --n 10 --k 11"},
                                             {"reduce", " --n 99"},
                                             {"transpose", " --m 9 --n 10"},
                                             {"convolution", " --images 2 --size 7 --filter 2 --filters 3"}}) {
    const std::string command = ladder + sizes + " --repetitions 0";
    const std::vector<json> all = rows_of(command);
    ASSERT_GE(all.size(), 3U);
    for (const json& row : all) {
      const std::string rung = row.at("name");
      const std::vector<json> rows = rows_of(command + " --rung " + rung);
      ASSERT_EQ(rows.size(), 1U) << rung;
      EXPECT_EQ(rows[0].at("name"), rung);
    }
  }
}

TEST_F(Ladders, TheTopRungsTilesAreVerified) {
  const std::string product = "gemm --m 65 --n 17 --k 300 ";
  const std::vector<json> picked = rows_of(product + "--precision double --picked");
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_TRUE(picked[0].contains("picked"));
  const Outcome outcome = run("ladder " + product + "--tiles --repetitions 0");
  if (count(outcome.err, "compute capability") > 0) GTEST_SKIP() << outcome.err;
  for (const std::string options : {"--transpose-b --precision double", "--precision float"}) {
    const std::vector<json> rows = rows_of(product + "--tiles " + options);
    EXPECT_GE(rows.size(), 2U);
    for (const json& row : rows) {
      EXPECT_TRUE(row.at("verified").get<bool>()) << row;
      EXPECT_TRUE(row.at("plan").get<std::string>().starts_with(row.at("name").get<std::string>())) << row;
    }
  }
}

TEST_F(Ladders, ReportsWhatItFound) {
  const std::vector<json> rows =
      rows_of("gemm --m 13 --n 17 --k 19 --alpha -2 --beta 5 --transpose-a --seed 7 --repetitions 2");
  const json report = json::parse(text("report.json"));
  const json expected = json::parse(
      R"({"stage": "ladder", "ladder": "gemm", "m": 13, "n": 17, "k": 19, "alpha": -2, "beta": 5,
          "transpose_a": true, "transpose_b": false, "seed": 7, "repetitions": 2,
          "precision": "float"})");
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(report.at(key), value) << key;
  EXPECT_TRUE(report.at("device").is_string());
  EXPECT_GT(report.at("peak_memory_bytes"), 0);
  EXPECT_TRUE(report.at("command").get<std::string>().ends_with("--report report.json"));
  int picked = 0;
  for (const json& row : rows) {
    EXPECT_TRUE(row.at("file").is_string());
    EXPECT_EQ(row.at("operations"), 2 * 13 * 17 * 19);
    EXPECT_GT(row.at("seconds"), 0);
    const std::string name = row.at("name");
    const bool rounds = name == "tf32" || name == "bf16" || name.starts_with("wgmma-");
    EXPECT_LT(row.at("difference"), rounds ? 1e-2 : 1e-6) << row;
    EXPECT_GT(row.at("difference"), rounds ? 1e-5 : 0) << "float cannot be exact here: " << row;
    picked += row.contains("picked") ? 1 : 0;
  }
  EXPECT_EQ(picked, 1);
  const auto difference = [&](const std::string& seed) {
    return rows_of("gemm --m 20 --n 20 --k 20 --rung naive --repetitions 0 --seed " + seed)
        .at(0)
        .at("difference")
        .get<double>();
  };
  EXPECT_EQ(difference("3"), difference("3"));
  EXPECT_NE(difference("3"), difference("4")) << "the seed makes the inputs";
}

TEST_F(Ladders, ReportsConvolutionsAndWholeLayers) {
  const int given = 2 * 9 * 9 * 3 + 4 * 4 * 3 * 5;
  for (const std::size_t table : {0U, 1U}) {
    const int written = table == 1 ? 5 + 2 * 3 * 3 * 5 : 2 * 6 * 6 * 5;
    for (const json& row : rows_of("convolution --images 2 --size 9 --channels 3 --filter 4 --filters 5", table)) {
      EXPECT_EQ(row.at("operations"), 2 * (2 * 6 * 6 * 5) * (4 * 4 * 3));
      EXPECT_EQ(row.at("bytes"), 4 * (given + written));
      EXPECT_GT(row.at("seconds"), 0);
      EXPECT_LT(row.at("difference"), 1e-6) << row;
      EXPECT_GT(row.at("difference"), 0) << "float cannot be exact here: " << row;
      EXPECT_EQ(row.contains("picked"), row.at("name") == "implicit") << row;
    }
  }
  EXPECT_EQ(json::parse(text("report.json")).at("tables").at(1).at("heading"), "whole layer");
  for (const json& row : rows_of("convolution --images 1 --size 4 --filter 1")) {
    EXPECT_EQ(row.contains("picked"), row.at("name") == "direct") << row;
  }
}

struct Skipped {
  std::string options;
  std::set<std::string> rungs;
  std::string reason;
};

TEST_F(Ladders, SayWhatTheyAreNotFor) {
  std::vector<Skipped> all = {
      {"--filter 4", {"separate", "fused"}, "windows of 2 x 2 do not cover an output of 7 x 7"},
      {"--precision double", {"texture"}, "it takes floats: textures have no doubles"},
      {"--precision double", {"fast-math"}, "it takes floats: --use_fast_math does not affect doubles"}};
  if (is_emulated()) {
    all.push_back({"", {"texture"}, "CUDA on the CPU has no textures"});
    all.push_back({"", {"fast-math"}, "is an option of nvcc, and this build does not use nvcc"});
  }
  for (const auto& [options, rungs, reason] : all) {
    const std::string command = "ladder convolution --images 1 --size 10 --filters 2 " + options;
    for (const std::string& rung : rungs) {
      const std::string said = expect_failure(command + " --rung " + rung, 1, reason);
      expect_contains(said, "the rung " + rung + " cannot be used here: ");
    }
    const json report = report_of(command);
    for (const json& table : report.at("tables")) {
      for (const json& row : table.at("rows")) {
        if (rungs.contains(row.at("name"))) expect_contains(row.value("skipped", ""), reason);
      }
    }
  }
}

/// Report 000's check: in double, the rungs agree with the library to the last digits.
TEST_F(Ladders, AgreeWithTheLibraryInDouble) {
  if (is_emulated()) GTEST_SKIP() << "there is no cuBLAS in this build";
  for (const std::string sizes : {"--m 800 --n 1000 --k 784", "--m 800 --n 10 --k 1000"}) {
    for (const json& row : rows_of("gemm " + sizes + " --alpha 2 --beta 5 --precision double")) {
      if (!row.contains("difference_from_reference")) GTEST_SKIP() << "this build has no cuBLAS";
      EXPECT_LE(row.at("difference_from_reference"), 4e-15) << row;
    }
  }
}

/// Drawn by plot; its own test looks at the figure.
TEST_F(Ladders, ARooflineNeedsTimesOfAGpuOrCounters) {
  if (!is_emulated()) return;
  expect_failure("ladder gemm --m 9 --n 10 --k 11 --roofline r.svg", 1,
                 "--roofline needs the times of a GPU, or counters: without a GPU, use "
                 "build/cpu/bin/instrumented/ladder (cmake --build build/cpu --target ladder_instrumented)");
}

// ----------------------------------------------------------------------------------- what is wrong

/// Values and sizes that are none, and sizes that fit nowhere.
TEST_F(Ladders, SayWhatIsWrong) { run_table("ladder"); }

TEST_F(Ladders, RefuseWhatDoesNotFit) {
  if (!is_emulated()) GTEST_SKIP() << "only an emulated GPU can be made smaller";
  surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] = "100000000";
  for (const std::string problem :
       {"gemm --m 5000 --n 5000 --k 2", "reduce --n 20000000 --precision double", "reduce --m 5000 --n 5000",
        "transpose --m 5000 --n 5000", "convolution --images 1000"}) {
    const std::string said =
        expect_failure("ladder " + problem, 1,
                       " of the emulated GPU's memory (STAGEWISE_CPU_DEVICE_MEMORY), of which 100 MB are free; "
                       "choose smaller sizes.");
    EXPECT_EQ(run("ladder " + problem).out, "") << said;
  }
  run_well("ladder gemm --m 10 --n 10 --k 10 --rung naive");
  // More than this machine has, whatever the emulated GPU is said to have.
  surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] = "70000000000000";
  expect_failure("ladder gemm --m 2147483647 --n 3000 --k 1", 1, " of the host's memory, of which ...");
}

}  // namespace
}  // namespace stagewise
