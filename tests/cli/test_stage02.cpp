// Stage 02's program: the same command line, its own options, and what it says without a GPU.

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Stage02 : public CommandLine {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }

  static inline const std::string training =
      " train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
      "--activation sigmoid";
};

TEST_F(Stage02, LearnsWhatStage01Learns) {
  run_well("stage01_serial" + training + " --save 1.h5");
  const std::string output = run_well("stage02_naive_cuda" + training + " --save 2.h5");
  EXPECT_TRUE(output.starts_with("stage02_naive_cuda on ")) << output;
  run_well("compare_checkpoints 1.h5 2.h5 --tolerance 1e-10");
}

TEST_F(Stage02, SaysWhereItRuns) {
  const json report = report_of("stage02_naive_cuda" + training);
  EXPECT_EQ(report.at("stage"), "stage02_naive_cuda");
  const bool on_cpu = report.at("cuda_on_cpu");
  const std::string device = report.at("device");
  EXPECT_TRUE(device.starts_with(on_cpu ? "CUDA on the CPU (" : "GPU (")) << device;
  const std::string output = run_well("stage02_naive_cuda" + training);
  EXPECT_EQ(output.find("times mean nothing about GPUs") != std::string::npos, on_cpu) << output;
}

TEST_F(Stage02, OptionsOfTheStageChangeNoBit) {
  run_well("stage02_naive_cuda" + training + " --save plain.h5");
  for (const std::string options : {"--block-size 4", "--block-size 32"}) {
    run_well("stage02_naive_cuda" + training + " " + options + " --save other.h5");
    run_well("compare_checkpoints plain.h5 other.h5 --tolerance 0");
  }
}

TEST_F(Stage02, ContinuesWhatStage01Began) {
  run_well("stage01_serial" + training + " --save whole.h5");
  run_well("stage01_serial" + training + " --epochs 2 --save part.h5");
  run_well("stage02_naive_cuda train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
  run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 1e-10");
}

TEST_F(Stage02, RefusesWhatItDoesNotOffer) {
  expect_failure("stage02_naive_cuda train --block-size 5", 2,
                 "--block-size: '5' is not one of 4, 8, 16, 32");
  for (const std::string memory : {"", " once", " twice"}) {
    expect_failure("stage02_naive_cuda train --memory" + memory, 2,
                   "--memory is offered by per_step_memory, not by stage02_naive_cuda");
  }
  expect_failure("stage02_naive_cuda train --workers 2", 2,
                 "--workers is offered by stage01_serial, stage04_minibatch and stage05_mpi, not "
                 "by stage02_naive_cuda");
  expect_failure("stage02_naive_cuda train --gemm naive", 2,
                 "--gemm is offered by stage01_serial and stage03_shared_memory, not by "
                 "stage02_naive_cuda");
}

class Report001 : public Stage02 {
 protected:
  void SetUp() override {
    Stage02::SetUp();
    if (IsSkipped()) return;
    const char* const folder = std::getenv("STAGEWISE_DATA_DIR");
    if (folder == nullptr || !fs::exists(fs::path(folder) / "ece408" / "model.hdf5")) {
      GTEST_SKIP() << "there is no ece408/model.hdf5 in the folder STAGEWISE_DATA_DIR";
    }
    surroundings_.variables["STAGEWISE_DATA_DIR"] = fs::absolute(folder).string();
    arguments_ = " evaluate --model cnn --dataset mnist --load " +
                 (fs::absolute(folder) / "ece408" / "model.hdf5").string();
  }

  std::string arguments_;
};

/// With so few images that it takes seconds on the CPU.
TEST_F(Report001, NetworkIsEvaluatedAsByStage01) {
  run_well("stage02_naive_cuda" + arguments_ + " --test-limit 60 --report 2.json");
  run_well("stage01_serial" + arguments_ + " --test-limit 60 --report 1.json");
  const json serial = json::parse(text("1.json"));
  const json naive = json::parse(text("2.json"));
  EXPECT_EQ(naive.at("test_accuracy"), serial.at("test_accuracy"));
  EXPECT_NEAR(naive.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-4);
}

TEST_F(Report001, NetworkRecognizesAsManyImagesAsItDidThen) {
  if (run_well("stage02_naive_cuda info").find("CUDA on the CPU") != std::string::npos) {
    GTEST_SKIP() << "all images take minutes on the CPU";
  }
  run_well("stage02_naive_cuda" + arguments_ + " --batch-size 1000 --report all.json");
  EXPECT_EQ(json::parse(text("all.json")).at("test_accuracy"), 0.8722);
}

}  // namespace
}  // namespace stagewise
