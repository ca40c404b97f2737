// `evaluate` and `info` as they should go.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

class Evaluate : public CommandLine {
 protected:
  json report_of(const std::string& command) {
    run_well(command + " --report report.json");
    return json::parse(text("report.json"));
  }
};

TEST_F(Evaluate, AgreesWithTheTrainingThatSaved) {
  const std::string trained = run_well(short_training + " --save model.h5");
  const std::string evaluated = run_well("stage01_serial evaluate --load model.h5 --test-limit 20");
  EXPECT_NE(trained.find("\ntest   " + evaluated), std::string::npos) << trained << evaluated;
}

TEST_F(Evaluate, GivesTheSameForEveryBatchSize) {
  const json reference = report_of("stage01_serial evaluate --load double.h5 --test-limit 500");
  for (const std::string batch : {"1", "7", "499", "500", "501", "9223372036854775807"}) {
    const json report = report_of(
        "stage01_serial evaluate --load double.h5 --test-limit 500 --batch-size " + batch);
    EXPECT_EQ(report.at("test_accuracy"), reference.at("test_accuracy")) << batch;
    EXPECT_NEAR(report.at("test_loss"), reference.at("test_loss"), 1e-12) << batch;
  }
}

TEST_F(Evaluate, ReportsWhatItFound) {
  const json report = report_of("stage01_serial evaluate --load digits.h5 --test-limit 50");
  EXPECT_EQ(report.at("stage"), "stage01_serial");
  EXPECT_EQ(report.at("model"), "mlp 784-8-10, relu, cross-entropy");
  EXPECT_EQ(report.at("dataset"), "digits");
  EXPECT_EQ(report.at("precision"), "float");
  EXPECT_EQ(report.at("epochs"), json::array());
  EXPECT_EQ(report.at("timings"), json::array());
  EXPECT_GT(report.at("test_loss"), 0);
  EXPECT_GT(report.at("test_accuracy"), 0);
  EXPECT_LT(report.at("test_accuracy"), 1);
  EXPECT_FALSE(report.contains("latency"));
}

TEST_F(Evaluate, MeasuresLatency) {
  const std::string command =
      "stage01_serial evaluate --load digits.h5 --test-limit 50 --batch-size 1 --latency";
  const std::string output = run_well(command);
  EXPECT_NE(output.find("\nlatency of a batch of 1, host to host, in 200 runs: median "),
            std::string::npos)
      << output;
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;

  const json latency = report_of(command).at("latency");
  EXPECT_GE(latency.at("samples"), 200);
  EXPECT_GT(latency.at("p5_seconds"), 0);
  EXPECT_LE(latency.at("p5_seconds"), latency.at("median_seconds"));
  EXPECT_LE(latency.at("median_seconds"), latency.at("p95_seconds"));
}

TEST_F(Evaluate, UsesAllOfASingleFile) {
  const std::string output = run_well(
      "stage01_serial evaluate --load digits.h5 --format idx --dataset "
      "digits/train-images-idx3-ubyte");
  EXPECT_NE(output.find(" of 50)\n"), std::string::npos) << output;
}

TEST_F(Evaluate, NeedsNoNetworkOnTheCommandLine) {
  run_well(
      "stage01_serial train --train-limit 20 --test-limit 10 --batch-size 20 --epochs 1 "
      "--hidden 5,4 --activation sigmoid --loss squared-error --precision double "
      "--save deep.h5");
  run_well("stage01_serial evaluate --load deep.h5");
  run_well("stage01_serial evaluate --load neuron.h5 --dataset step");
}

TEST_F(CommandLine, InfoSaysWhatTheProgramRunsOn) {
  const std::string output = run_well("stage01_serial info");
  EXPECT_TRUE(output.starts_with("stage01_serial: ")) << output;
  EXPECT_NE(output.find("\nruns on    CPU ("), std::string::npos) << output;
  EXPECT_NE(output.find("\nversion    Stagewise "), std::string::npos) << output;
  EXPECT_NE(output.find("\nlibrary    OpenBLAS "), std::string::npos) << output;
  EXPECT_EQ(output.find("stages/"), std::string::npos) << output;
}

TEST_F(CommandLine, InfoSaysWhichFileComputesWhat) {
  const std::string output = run_well("stage01_serial info --primitives");
  for (const std::string line :
       {"\ngemm ", "\nadd_bias ", "\nrelu, ", "\nsigmoid, ", "\ntranspose ", "\nsum, sum_rows ",
        "\nsoftmax_cross_entropy, ", "\nsquared_error, ", "\nargmax, ", "\nsgd_update "}) {
    EXPECT_NE(output.find(line), std::string::npos) << line << " is not in:\n" << output;
  }
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace stagewise
