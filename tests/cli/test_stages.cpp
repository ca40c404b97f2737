// The programs of stages 02 to 04: they train what stage 01 trains, each with its own options.

#include <cstdlib>
#include <string>

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

class Stages : public Trainings {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }
};

const Sayings forms = {
    {"stage02_naive_cuda", ""},
    {"stage02_naive_cuda", "--block-size 4"},
    {"stage03_shared_memory", ""},
    {"stage03_shared_memory", "--gemm tile-16 --reduce interleaved"},
    {"stage04_minibatch", ""},
    {"stage04_minibatch", "--stream-batches --capture off"},
    {"stage04_minibatch", "--gather kernel --fuse rows"},
    {"stage04_minibatch", "--fuse off"},
};

TEST_F(Stages, LearnWhatStage01Learns) {
  for (const auto& [program, options] : forms) expect_training(program, options);
  for (const std::string workers :
       {"--workers 3", "--workers 2 --average weights --average-every 4"}) {
    expect_training("stage04_minibatch", workers, workers);
  }
}

TEST_F(Stages, AnswerAsStage01) {
  for (const std::string program :
       {"stage02_naive_cuda", "stage03_shared_memory", "stage04_minibatch"}) {
    expect_answers(program);
  }
}

TEST_F(Stages, SayWhereTheyRun) {
  for (const std::string program :
       {"stage02_naive_cuda", "stage03_shared_memory", "stage04_minibatch"}) {
    const std::string output =
        run_well(program + smooth_training + "--epochs 1 --report report.json");
    const json report = json::parse(text("report.json"));
    EXPECT_EQ(report.at("stage"), program);
    const bool on_cpu = report.at("cuda_on_cpu");
    const std::string device = report.at("device");
    EXPECT_TRUE(device.starts_with(on_cpu ? "CUDA on the CPU (" : "GPU (")) << device;
    EXPECT_EQ(count(output, "times mean nothing about GPUs"), on_cpu ? 1 : 0) << output;
  }
}

TEST_F(Stages, ContinueAsIfTheyHadNeverStopped) {
  expect_resumption("stage03_shared_memory", "--gemm tile-16");
  expect_resumption("stage04_minibatch", "");
  expect_resumption("stage04_minibatch",
                    "--optimizer adam --workers 3 --average weights --average-every 4");
  expect_resumption("stage04_minibatch",
                    "--optimizer momentum --schedule cosine --warmup 5 --stream-batches");
  // With another choice, where that changes no number.
  run_well("stage04_minibatch train --resume part.h5 --epochs 4 --save rest.h5 --capture off");
  expect_same("rest.h5", "whole.h5");
  expect_failure("stage04_minibatch train --resume part.h5 --epochs 4 --fuse off", 2,
                 "--fuse cannot be given with --resume: the checkpoint part.h5 decides ...");
}

TEST_F(Stages, ContinueWhatStage01Began) {
  expect_continuation("stage01_serial", "stage02_naive_cuda");
  // Its checkpoint says nothing of what only stage 04 has.
  run_well("stage04_minibatch train --resume part.h5 --epochs 4 --fuse off");
  expect_continuation("stage01_serial", "stage04_minibatch",
                      "--workers 2 --average weights --average-every 4 --optimizer adam");
}

// ----------------------------------------------------------------------------------- wrong usage

const Sayings refusals = {
    {"stage02_naive_cuda train --block-size 5", "--block-size: '5' is not one of 4, 8, 16, 32"},
    {"stage03_shared_memory", "say what to do: train, evaluate, predict or info (see stage03_..."},
    {"stage03_shared_memory train --gemm tile-17", "--gemm: 'tile-17' is not one of auto, ..."},
    {"stage03_shared_memory train --gemm tf32", "--gemm: 'tf32' is not one of auto, ..."},
    {"stage03_shared_memory train --reduce tree", "--reduce: 'tree' is not one of ..."},
    {"stage03_shared_memory train --convolution gemm", "is not one of auto, direct, implicit"},
    {"stage03_shared_memory gemm --rung tile-16", "gemm is offered by ladder, not by stage03_..."},
    {"stage04_minibatch train --fuse sometimes", "--fuse: 'sometimes' is not one of o..."},
    {"stage04_minibatch train --gather host", "--gather: 'host' is not one of auto, loads, kernel"},
    {"stage04_minibatch train --gather", "--gather needs a value"},
    {"stage04_minibatch train --capture on --capture off", "--capture is given more than once"},
    {"stage04_minibatch train --train-limit 20 --batch-size 5 --gather loads --fuse off",
     "--gather needs a fused layer that reads the input, and --fuse off leaves none"},
    {"stage04_minibatch train --workers 101",
     "is more than a batch has samples: --batch-size is 100"},
    {"stage04_minibatch train --workers 0", "--workers: '0' is not a whole number from 1..."},
};

TEST_F(Stages, RefuseWhatTheyDoNotKnow) {
  expect_failures("", 2, refusals);
}

TEST_F(Stages, EvaluateWithoutTheOptionsOfATraining) {
  const std::string evaluate = "stage04_minibatch evaluate ";
  const Outcome outcome = run(evaluate + "--load digits.h5 --test-limit 20 --capture off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "stage04_minibatch: note: --capture has no effect here: it is for train.\n");
  EXPECT_EQ(count(run_well(evaluate + "--help"), "--capture"), 0);
}

// ----------------------------------------------------------------------------------- report 001

class Report001 : public Stages {
 protected:
  void SetUp() override {
    Stages::SetUp();
    if (IsSkipped()) return;
    const char* const folder = std::getenv("STAGEWISE_DATA_DIR");
    const fs::path data = fs::absolute(folder == nullptr ? "none" : folder);
    if (!fs::exists(data / "ece408" / "model.hdf5")) {
      GTEST_SKIP() << "there is no ece408/model.hdf5 in the folder STAGEWISE_DATA_DIR";
    }
    surroundings_.variables["STAGEWISE_DATA_DIR"] = data.string();
    arguments_ =
        " evaluate --model cnn --dataset mnist --load " + (data / "ece408" / "model.hdf5").string();
  }

  std::string arguments_;
};

/// With so few images that it takes seconds on the CPU.
TEST_F(Report001, NetworkIsEvaluatedAsByStage01) {
  const json serial = report_of("stage01_serial" + arguments_ + " --test-limit 60");
  const json naive = report_of("stage02_naive_cuda" + arguments_ + " --test-limit 60");
  EXPECT_EQ(naive.at("test_accuracy"), serial.at("test_accuracy"));
  EXPECT_NEAR(naive.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-4);
  if (naive.at("cuda_on_cpu")) return;  // all images take minutes there
  const json all = report_of("stage02_naive_cuda" + arguments_ + " --batch-size 1000");
  EXPECT_EQ(all.at("test_accuracy"), 0.8722);
}

}  // namespace
}  // namespace stagewise
