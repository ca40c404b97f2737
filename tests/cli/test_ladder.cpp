// The program that runs ladders.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

const std::string program = "ladder ";

class Ladders : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }

  /// What a command's --rung takes, but for all, from its help text.
  std::vector<std::string> rungs_of(const std::string& ladder) {
    std::vector<std::string> rungs;
    std::istringstream words(
        between(run_well(program + ladder + " --help"), "--rung NAME", "[all]"));
    for (std::string word; words >> word;) {
      if (word.ends_with(',')) word.pop_back();
      if (word != "all") rungs.push_back(word);
    }
    return rungs;
  }

  /// Whether every row that was run is verified, and at least one was.
  static void expect_verified(const json& report) {
    int rows = 0;
    for (const json& table : report.at("tables")) {
      for (const json& row : table.at("rows")) {
        if (row.contains("skipped")) continue;
        EXPECT_TRUE(row.at("verified").get<bool>()) << row;
        EXPECT_LE(row.at("worst_difference"), row.at("worst_difference_bound")) << row;
        ++rows;
      }
    }
    EXPECT_GT(rows, 0) << report;
  }
};

TEST_F(Ladders, AllRungsAreVerified) {
  for (const std::string arguments :
       {"gemm --m 37 --n 29 --k 41", "gemm --m 1 --n 1 --k 1",
        "gemm --m 33 --n 65 --k 17 --transpose-a --transpose-b --alpha -1.5 --beta .5",
        "gemm --m 5 --n 70 --k 131 --precision double --beta -5 --transpose-b", "reduce --n 10007",
        "reduce --n 1 --precision double", "reduce --m 301 --n 67", "reduce --m 1 --n 1",
        "reduce --m 67 --n 301 --precision double", "transpose --m 67 --n 131",
        "transpose --m 1 --n 1", "transpose --m 131 --n 35",
        "transpose --m 3 --n 200 --precision double",
        "convolution --images 3 --size 9 --channels 3 --filter 4 --filters 7",
        "convolution --images 5 --size 12 --channels 4 --filters 8 --precision double",
        "convolution --images 2 --size 11 --channels 3 --filter 3 --filters 5 --precision double",
        "convolution --images 1 --size 1 --channels 1 --filter 1 --filters 1"}) {
    const std::string output = run_well(program + arguments + " --repetitions 0");
    const std::string ladder = words_of(arguments).front();
    for (const std::string& rung : rungs_of(ladder)) {
      EXPECT_NE(output.find("\n" + rung + " "), std::string::npos) << rung << output;
    }
    EXPECT_EQ(output.find('\033'), std::string::npos) << output;
    EXPECT_EQ(output.find("DIFFERS"), std::string::npos) << output;
    for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
    expect_verified(report_of(program + arguments + " --repetitions 0"));
  }
}

TEST_F(Ladders, ARungRunsByItsName) {
  const std::vector<std::pair<std::string, std::string>> ladders = {
      {"gemm", " --m 9 --n 10 --k 11"},
      {"reduce", " --n 99"},
      {"transpose", " --m 9 --n 10"},
      {"convolution", " --images 2 --size 7 --filter 2 --filters 3"}};
  for (const auto& [ladder, sizes] : ladders) {
    const std::vector<std::string> rungs = rungs_of(ladder);
    EXPECT_GE(rungs.size(), 3U);
    for (const std::string& rung : rungs) {
      const Outcome outcome =
          run(program + ladder + sizes + " --repetitions 0 --rung " + rung + " --report r.json");
      if (outcome.exit_code == 1) {  // one that is not for this GPU
        EXPECT_NE(outcome.err.find("the rung " + rung + " cannot be used here: "),
                  std::string::npos)
            << outcome.err;
        continue;
      }
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      const json tables = json::parse(text("r.json")).at("tables");
      ASSERT_EQ(tables.size(), 1U) << tables;
      ASSERT_EQ(tables[0].at("rows").size(), 1U) << tables;
      EXPECT_EQ(tables[0].at("rows")[0].at("name"), rung);
    }
  }
}

TEST_F(Ladders, TheTopRungsTilesAreVerified) {
  const std::string product = program + "gemm --m 65 --n 17 --k 300 ";
  const json picked =
      report_of(product + "--precision double --picked").at("tables").at(0).at("rows");
  ASSERT_EQ(picked.size(), 1U) << picked;
  EXPECT_TRUE(picked.at(0).contains("picked")) << picked;
  const Outcome outcome = run(product + "--tiles --repetitions 0");
  if (outcome.err.find("compute capability") != std::string::npos) GTEST_SKIP() << outcome.err;
  for (const char* const options : {"--transpose-b --precision double", "--precision float"}) {
    const json report = report_of(product + "--tiles " + options);
    expect_verified(report);
    const json& rows = report.at("tables").at(0).at("rows");
    EXPECT_GE(rows.size(), report.at("cuda_on_cpu") ? 3U : 5U);
    for (const json& row : rows) {
      EXPECT_TRUE(row.at("plan").get<std::string>().starts_with(row.at("name").get<std::string>()))
          << row;
    }
  }
  expect_failure(program + "gemm --tiles --picked", 2,
                 "--picked says what to run, and so do --rung and --tiles; leave one away");
}

TEST_F(Ladders, ReportsWhatItFound) {
  const json report = report_of(
      program +
      "gemm --m 13 --n 17 --k 19 --alpha -2 --beta 5 --transpose-a --seed 7 --repetitions 2");
  EXPECT_EQ(report.at("stage"), "ladder");
  EXPECT_EQ(report.at("ladder"), "gemm");
  EXPECT_EQ(report.at("m"), 13);
  EXPECT_EQ(report.at("n"), 17);
  EXPECT_EQ(report.at("k"), 19);
  EXPECT_EQ(report.at("alpha"), -2);
  EXPECT_EQ(report.at("beta"), 5);
  EXPECT_EQ(report.at("transpose_a"), true);
  EXPECT_EQ(report.at("transpose_b"), false);
  EXPECT_EQ(report.at("precision"), "float");
  EXPECT_EQ(report.at("seed"), 7);
  EXPECT_EQ(report.at("repetitions"), 2);
  EXPECT_TRUE(report.at("cuda_on_cpu").is_boolean());
  EXPECT_TRUE(report.at("device").is_string());
  EXPECT_GT(report.at("peak_memory_bytes"), 0);
  EXPECT_TRUE(report.at("command").get<std::string>().ends_with("--report report.json"));
  int picked = 0;
  for (const json& row : report.at("tables").at(0).at("rows")) {
    if (row.contains("skipped")) continue;
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
}

TEST_F(Ladders, OnlyVerifiesWhereNoTimeIsWanted) {
  for (const std::string ladder : {"gemm --m 5 --n 6 --k 7", "reduce --n 50", "transpose --m 5",
                                   "convolution --images 1 --size 6"}) {
    const json report = report_of(program + ladder + " --repetitions 0");
    expect_verified(report);
    for (const json& table : report.at("tables")) {
      for (const json& row : table.at("rows")) EXPECT_FALSE(row.contains("seconds")) << row;
    }
  }
}

TEST_F(Ladders, TheSeedMakesTheInputs) {
  const auto difference = [&](const std::string& seed) {
    const json report = report_of(
        program + "gemm --m 20 --n 20 --k 20 --rung naive --repetitions 0 --seed " + seed);
    return report.at("tables").at(0).at("rows").at(0).at("difference").get<double>();
  };
  EXPECT_EQ(difference("3"), difference("3"));
  EXPECT_NE(difference("3"), difference("4"));
}

TEST_F(Ladders, ReportsConvolutionsAndWholeLayers) {
  const json report = report_of(
      program + "convolution --images 2 --size 9 --channels 3 --filter 4 --filters 5 --seed 7");
  EXPECT_EQ(report.at("ladder"), "convolution");
  EXPECT_EQ(report.at("images"), 2);
  EXPECT_EQ(report.at("size"), 9);
  EXPECT_EQ(report.at("channels"), 3);
  EXPECT_EQ(report.at("filter"), 4);
  EXPECT_EQ(report.at("filters"), 5);
  const int given = 2 * 9 * 9 * 3 + 4 * 4 * 3 * 5;
  const json& tables = report.at("tables");
  ASSERT_EQ(tables.size(), 2U) << tables;
  for (const json& table : tables) {
    const bool whole = table.at("heading") == "whole layer";
    for (const json& row : table.at("rows")) {
      if (row.contains("skipped")) continue;
      EXPECT_EQ(row.at("operations"), 2 * (2 * 6 * 6 * 5) * (4 * 4 * 3));
      EXPECT_EQ(row.at("bytes"), 4 * (given + (whole ? 5 + 2 * 3 * 3 * 5 : 2 * 6 * 6 * 5)));
      EXPECT_GT(row.at("seconds"), 0);
      EXPECT_LT(row.at("difference"), 1e-6) << row;
      EXPECT_GT(row.at("difference"), 0) << "float cannot be exact here: " << row;
      EXPECT_EQ(row.contains("picked"), row.at("name") == "implicit") << row;
    }
  }
  for (const json& row : report_of(program + "convolution --images 1 --size 4 --filter 1")
                             .at("tables")
                             .at(0)
                             .at("rows")) {
    EXPECT_EQ(row.contains("picked"), row.at("name") == "direct") << row;
  }
}

class ConvolutionsThatAreSkipped : public Ladders {
 protected:
  void expect_skipped(const std::string& options, const std::set<std::string>& rungs,
                      const std::string& reason) {
    const std::string convolution = program + "convolution --images 1 --size 10 --filters 2 ";
    for (const std::string& rung : rungs) {
      expect_failure(convolution + options + " --rung " + rung, 1,
                     "the rung " + rung + " cannot be used here: " + reason);
    }
    for (const json& table : report_of(convolution + options).at("tables")) {
      for (const json& row : table.at("rows")) {
        if (!rungs.contains(row.at("name"))) continue;
        EXPECT_EQ(row.value("skipped", ""), reason) << row;
      }
    }
  }
};

TEST_F(ConvolutionsThatAreSkipped, SayWhatTheyAreNotFor) {
  expect_skipped("--filter 4", {"separate", "fused"},
                 "windows of 2 x 2 do not cover an output of 7 x 7");
  expect_skipped("--precision double", {"texture"}, "it takes floats: textures have no doubles");
  expect_skipped("--precision double", {"fast-math"},
                 "it takes floats: --use_fast_math does not affect doubles");
}

TEST_F(ConvolutionsThatAreSkipped, SayWhatTheCpuLacks) {
  if (!report_of(program + "reduce --n 1").at("cuda_on_cpu")) GTEST_SKIP() << "of emulated GPUs";
  expect_skipped("", {"texture"}, "CUDA on the CPU has no textures");
  expect_skipped("", {"fast-math"},
                 "--use_fast_math is an option of nvcc, and this build does not use nvcc");
}

TEST_F(Ladders, FiltersFitIntoTheImage) {
  run_well(program + "convolution --size 5 --filter 5 --filters 1");
  expect_failure(program + "convolution --size 5 --filter 6", 2,
                 "--filter 6 is larger than --size 5: it must fit into the image");
}

/// Report 000's check: in double, the rungs agree with the library to the last digits.
TEST_F(Ladders, AgreeWithTheLibraryInDouble) {
  for (const std::string sizes : {"--m 800 --n 1000 --k 784", "--m 800 --n 10 --k 1000"}) {
    const json device = report_of(program + "gemm --m 1 --n 1 --k 1 --rung naive");
    if (device.at("cuda_on_cpu")) GTEST_SKIP() << "there is no cuBLAS in this build";
    const json report =
        report_of(program + "gemm " + sizes + " --alpha 2 --beta 5 --precision double");
    for (const json& row : report.at("tables").at(0).at("rows")) {
      if (row.contains("skipped")) continue;
      if (!row.contains("difference_from_reference")) GTEST_SKIP() << "this build has no cuBLAS";
      EXPECT_LE(row.at("difference_from_reference"), 4e-15) << row;
    }
  }
}

/// No option without effect, and none that no test here knows.
TEST_F(Ladders, EveryOptionIsKnown) {
  const std::set<std::string> of_all = {"m",    "n",           "precision", "seed",
                                        "rung", "repetitions", "report",    "help"};
  const std::set<std::string> of_products = {
      "k", "alpha", "beta", "transpose-a", "transpose-b", "picked", "tiles", "cublas", "roofline"};
  const std::set<std::string> of_convolutions = {"images", "size", "channels", "filter", "filters"};
  for (const std::string ladder : {"gemm", "reduce", "transpose", "convolution"}) {
    for (const std::string& line : lines_of(run_well(program + ladder + " --help"))) {
      if (!line.starts_with("  --")) continue;
      const std::string option = line.substr(4, line.find(' ', 4) - 4);
      EXPECT_TRUE(of_all.contains(option) || (ladder == "gemm" && of_products.contains(option)) ||
                  (ladder == "convolution" && of_convolutions.contains(option)))
          << ladder << " --" << option << ": what does it change?";
    }
  }
}

/// Drawn by plot; its own test looks at the figure.
TEST_F(Ladders, ARooflineNeedsTimesOfAGpuOrCounters) {
  const std::string command = program + "gemm --m 9 --n 10 --k 11 --roofline ";
  expect_failure(command + "r.pdf", 2, "--roofline r.pdf must end in .svg or .png");
  expect_failure(command + "''", 2, "--roofline: ...");
  if (report_of(program + "reduce --n 1").at("cuda_on_cpu")) {
    expect_failure(
        command + "r.svg", 1,
        "--roofline needs the times of a GPU, or counters: without a GPU, use "
        "build/cpu/bin/observed/ladder (cmake --build build/cpu --target ladder_observed)");
    EXPECT_FALSE(std::filesystem::exists(path("r.svg")));
  }
}

TEST_F(Ladders, RefuseWhatIsNoSize) {
  for (const std::string option :
       {"gemm --m", "gemm --n", "gemm --k", "reduce --m", "reduce --n", "transpose --m",
        "transpose --n", "convolution --images", "convolution --size", "convolution --channels",
        "convolution --filter", "convolution --filters"}) {
    const std::string name = words_of(option).at(1);
    for (const std::string value :
         {"0", "-1", "many", "1e3", "2.5", "2147483648", "99999999999999999999", "''"}) {
      expect_failure(program + option + " " + value, 2,
                     name + ": '" + (value == "''" ? "" : value) +
                         "' is not a whole number from 1 to 2147483647");
    }
    expect_failure(program + option, 2, name + " needs a value");
  }
}

TEST_F(Ladders, RefuseWhatIsNoValue) {
  for (const std::string ladder : {"gemm", "reduce", "transpose", "convolution"}) {
    const std::string command = program + ladder;
    expect_failure(command + " --rung best", 2, "--rung: 'best' is not one of all, ...");
    expect_failure(command + " --precision half", 2,
                   "--precision: 'half' is not one of float, double");
    expect_failure(command + " --seed -1", 2,
                   "--seed: '-1' is not a whole number from 0 to 2^64 - 1");
    expect_failure(command + " --repetitions -1", 2,
                   "--repetitions: '-1' is not a whole number from 0 to 1000000");
    expect_failure(command + " --report no/folder.json", 1, "the report no/folder.json cannot...");
    expect_failure(command + " 3", 2,
                   "argument '3' is unknown; ladder " + ladder + " --help lists what there is");
  }
  for (const std::string name : {"alpha", "beta"}) {
    const std::string command = program + "gemm --" + name + " ";
    for (const std::string value : {"inf", "-inf", "nan", "one"}) {
      expect_failure(command + value, 2, "--" + name + ": '" + value + "' is not a finite number");
    }
    expect_failure(command + "-1e39", 2,
                   "--" + name +
                       " -1e+39 is infinite in float; choose another, or "
                       "--precision double");
    expect_failure(command + "1e-60", 2,
                   "--" + name + " 1e-60 is 0 in float; choose another, or --precision double");
    expect_failure(program + "reduce --" + name + " 1", 2,
                   "option '--" + name + "' is unknown; ladder reduce --help lists what there is");
  }
  expect_failure(program + "gemm --transpose-a=yes", 2, "--transpose-a takes no value");
  expect_failure("ladder gem", 2, "argument 'gem' is unknown; did you mean gemm?");
  expect_failure("ladder train", 2,
                 "argument 'train' is unknown; ladder --help lists what there is");
  expect_failure("ladder", 2,
                 "say what to do: gemm, reduce, transpose, convolution or all-reduce, or a "
                 "training with other kernels: blocked, rungs, tf32 or persistent (see ladder "
                 "--help)");
}

TEST_F(Ladders, RefuseFactorsThatNoResultCouldHold) {
  expect_failure(program + "gemm --m 4 --n 4 --k 4 --alpha 1e308 --precision double", 2,
                 "--alpha ...");
  expect_failure(program + "gemm --m 4 --n 4 --k 100 --alpha 3e38", 2, "--alpha ...");
  run_well(program + "gemm --m 4 --n 4 --k 4 --alpha 1e300 --precision double");
}

TEST_F(Ladders, RefuseWhatDoesNotFit) {
  // Where a library computes it, too, there are two results.
  const bool is_emulated = report_of(program + "reduce --n 1").at("cuda_on_cpu").get<bool>();
  expect_failure(program + "gemm --m 2147483647 --n 2147483647 --k 2147483647", 1,
                 "the product of A [2147483647, 2147483647] and B [2147483647, 2147483647] in "
                 "float takes " +
                     std::string(is_emulated ? "55.3 EB of the ..." : "..."));
  expect_failure(program + "reduce --m 2147483647 --n 2147483647", 1,
                 "the matrix [2147483647, 2147483647] with its column sums in float takes ...");
  expect_failure(program + "transpose --m 2147483647 --n 2147483647 --precision double", 1,
                 "the matrix [2147483647, 2147483647] with its copies and a helper in double "
                 "takes 148 EB of the ...");
  expect_failure(program + "convolution --images 2147483647 --size 2147483647 --filters 2147483647",
                 1,
                 "the layer of 2,147,483,647 images of 2147483647x2147483647x1 in float, with "
                 "2,147,483,647 filters of 5x5 takes ...");
}

TEST_F(Ladders, RefuseWhatDoesNotFitIntoASmallerGpu) {
  if (!report_of(program + "reduce --n 1").at("cuda_on_cpu")) GTEST_SKIP() << "of emulated GPUs";
  surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] = "100000000";
  const std::vector<std::pair<std::string, std::string>> problems = {
      {"gemm --m 5000 --n 5000 --k 2",
       "the product of A [5000, 2] and B [2, 5000] in float takes "},
      {"reduce --n 20000000 --precision double", "the sum of 20,000,000 numbers in double takes "},
      {"reduce --m 5000 --n 5000", "the matrix [5000, 5000] with its column sums in float takes "},
      {"transpose --m 5000 --n 5000",
       "the matrix [5000, 5000] with its copies and a helper in float takes "},
      {"convolution --images 1000",
       "the layer of 1,000 images of 28x28x1 in float, with 32 filters of 5x5 takes "}};
  for (const auto& [arguments, begin] : problems) {
    const Outcome outcome = run(program + arguments);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("ladder: " + begin)) << outcome.err;
    EXPECT_TRUE(
        outcome.err.ends_with(" of the emulated GPU's memory (STAGEWISE_CPU_DEVICE_MEMORY), of "
                              "which 100 MB are free; choose smaller sizes.\n"))
        << outcome.err;
  }
  run_well(program + "gemm --m 10 --n 10 --k 10");
}

/// More than this machine has, whatever the emulated GPU is said to have.
TEST_F(Ladders, RefuseWhatDoesNotFitIntoTheHost) {
  if (!report_of(program + "reduce --n 1").at("cuda_on_cpu"))
    GTEST_SKIP() << "a GPU's memory ends before";
  surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] = "70000000000000";
  const Outcome outcome = run(program + "gemm --m 2147483647 --n 3000 --k 1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find(" of the host's memory, of which "), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace stagewise
