// What is learned without any option, from the digits of the tour and from MNIST.

#include <cstdlib>
#include <regex>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Learning : public CommandLine {};

TEST_F(Learning, OfDigitsNeedsNoOption) {
  const std::string output = run_well("stage01_serial train");
  const std::vector<std::string> lines = lines_of(output);
  ASSERT_EQ(lines.size(), 9U) << output;
  EXPECT_TRUE(lines[0].starts_with("stage01_serial on CPU (")) << lines[0];
  EXPECT_EQ(lines[1], "data   digits: 10,000 training and 2,000 test images of 28x28x1, 10 classes");
  EXPECT_EQ(lines[2], "model  mlp 784-256-10, relu, cross-entropy, float, 203,530 parameters");
  const std::regex epoch(R"(epoch [1-5]/5  loss 0\.\d{6}  accuracy 0\.\d{4}  \S+ m?s  [\d,.]+( [kM])? images/s)");
  for (std::size_t i = 3; i < 8; ++i) {
    EXPECT_TRUE(std::regex_match(lines[i], epoch)) << lines[i];
  }
  expect_narrow(output);
  const std::regex test(R"(test   loss 0\.\d{6}  accuracy 0\.9[3-8]\d\d  \([\d,]+ of 2,000\))");
  EXPECT_TRUE(std::regex_match(lines[8], test)) << lines[8];
}

/// 97.6 %, the mean of five seeds.
TEST_F(Learning, OfMnistNeedsLittleMemory) {
  const char* const folder = std::getenv("STAGEWISE_DATA_DIR");
  const fs::path data = fs::absolute(folder == nullptr ? "none" : folder);
  const std::string images = (data / "mnist" / "train-images-idx3-ubyte").string();
  if (!fs::exists(images) && !fs::exists(images + ".gz")) {
    GTEST_SKIP() << "there is no MNIST in the folder STAGEWISE_DATA_DIR";
  }
  surroundings_.variables["STAGEWISE_DATA_DIR"] = data.string();
  const json report = report_of("stage01_serial train --dataset mnist --gemm blas --save model.h5");
  EXPECT_GT(report.at("test_accuracy"), 0.973);
  EXPECT_GT(report.at("epochs").at(4).at("train_accuracy"), 0.94);
  EXPECT_GT(report.at("peak_memory_bytes"), 47'000'000) << "less than the pixels alone";
  EXPECT_LT(report.at("peak_memory_bytes"), 600'000'000);
  expect_contains(run_well("stage01_serial evaluate --load model.h5 --dataset mnist"), " of 10,000)\n");
}

}  // namespace
}  // namespace stagewise
