// Data that nobody generated. Skipped where they are not.

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Mnist : public CommandLine {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("STAGEWISE_DATA_DIR");
    if (folder == nullptr || *folder == '\0') {
      GTEST_SKIP() << "STAGEWISE_DATA_DIR does not name a folder with data sets";
    }
    const fs::path file = fs::path(folder) / "mnist" / "train-images-idx3-ubyte";
    if (!fs::exists(file) && !fs::exists(file.string() + ".gz")) {
      GTEST_SKIP() << "there is no MNIST in " << folder;
    }
    surroundings_.variables["STAGEWISE_DATA_DIR"] = fs::absolute(folder).string();
  }
};

TEST_F(Mnist, TrainsInLittleMemory) {
  run_well(
      "stage01_serial train --dataset mnist --hidden 128 --epochs 2 --learning-rate 0.1 --gemm "
      "blas "
      "--save model.h5 --report report.json");
  const json report = json::parse(text("report.json"));
  EXPECT_GT(report.at("test_accuracy"), 0.95);
  EXPECT_GT(report.at("epochs").at(1).at("train_accuracy"), 0.94);
  EXPECT_GT(report.at("peak_memory_bytes"), 47'000'000) << "less than the pixels alone";
  EXPECT_LT(report.at("peak_memory_bytes"), sanitized ? 2'000'000'000 : 600'000'000);

  const std::string output = run_well("stage01_serial evaluate --load model.h5 --dataset mnist");
  EXPECT_NE(output.find(" of 10,000)\n"), std::string::npos) << output;
}

/// 97.6 %, the mean of five seeds.
TEST_F(Mnist, LearnsWithoutAnyOption) {
  if (sanitized) GTEST_SKIP() << "it takes long with sanitizers";
  run_well("stage01_serial train --dataset mnist --gemm blas --report report.json");
  EXPECT_GT(json::parse(text("report.json")).at("test_accuracy"), 0.973);
}

}  // namespace
}  // namespace stagewise
