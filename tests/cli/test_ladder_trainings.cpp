// The stages' programs with kernels that no stage executes, as commands of the ladder.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string cnn =
    " train --model cnn --train-limit 20 --test-limit 5 --batch-size 10 --epochs 1 ";

// 53 samples in batches of 20: two of them and a short one.
const std::string perceptron =
    " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
    "--activation sigmoid ";

class LadderTrainings : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }

  /// Expects that a program trains what a stage trains, up to rounding of doubles.
  void expect_training(const std::string& program, const std::string& stage,
                       const std::string& options = "") {
    run_well(program + perceptron + options + " --save ladder.h5");
    run_well(stage + perceptron + " --save stage.h5");
    run_well("compare_checkpoints stage.h5 ladder.h5 --tolerance 1e-10");
  }

  /// Expects that both evaluate a network of doubles alike.
  void expect_evaluation(const std::string& program) {
    const std::string evaluate = " evaluate --load double.h5 --test-limit 77 --batch-size 10";
    const json serial = report_of("stage01_serial" + evaluate);
    const json own = report_of(program + evaluate);
    EXPECT_EQ(own.at("test_accuracy"), serial.at("test_accuracy"));
    EXPECT_NEAR(own.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-12);
  }

  /// Expects that a training which continues ends as one that never stopped.
  void expect_resumption(const std::string& command, const std::string& program) {
    run_well(command + " --epochs 5 --save whole.h5");
    run_well(command + " --epochs 2 --save part.h5");
    run_well(program + " train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
    EXPECT_EQ(read_file(path("rest.h5")), read_file(path("whole.h5"))) << command;
    EXPECT_NE(read_file(path("part.h5")), read_file(path("whole.h5"))) << command;
  }

  /// Expects that an option which a program adds is refused by a stage, which names the program.
  void expect_offered(const std::string& option, const std::string& program,
                      const std::string& stage) {
    expect_failure(stage + " train --" + option, 2,
                   "--" + option.substr(0, option.find(' ')) + " is offered by " + program +
                       ", not by " + stage);
  }
};

TEST_F(LadderTrainings, WantToKnowWhatToDo) {
  for (const std::string program : {"ladder blocked", "ladder rungs", "ladder persistent"}) {
    expect_failure(program, 2,
                   "say what to do: train, evaluate, predict or info (see " + program + " --help)");
    expect_failure(program + " trian", 2, "argument 'trian' is unknown; did you mean train?");
    expect_failure(program + " train --frobnicate", 2,
                   "option '--frobnicate' is unknown; " + program +
                       " train --help lists what there "
                       "is");
    expect_failure(program + " gemm", 2, "gemm is offered by ladder, not by " + program);
    const std::string output = run_well(program + perceptron);
    EXPECT_TRUE(output.starts_with(program + " on ")) << output;
    EXPECT_EQ(report_of(program + perceptron).at("stage"), program);
  }
}

// ---------------------------------------------------------------------------------------- blocked

class LadderBlocked : public LadderTrainings {
 protected:
  void SetUp() override {}
};

TEST_F(LadderBlocked, LearnsWhatStage01Learns) {
  expect_training("ladder blocked", "stage01_serial");
  run_well("ladder blocked" + perceptron + "--workers 3 --save blocked.h5");
  run_well("stage01_serial" + perceptron + "--workers 3 --save serial.h5");
  run_well("compare_checkpoints serial.h5 blocked.h5 --tolerance 1e-10");
  expect_evaluation("ladder blocked");
}

TEST_F(LadderBlocked, ContinuesAsIfItHadNeverStopped) {
  expect_resumption("ladder blocked" + perceptron, "ladder blocked");
  run_well("stage01_serial train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
  run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 1e-10");
}

TEST_F(LadderBlocked, HasNoOtherProduct) {
  expect_failure("ladder blocked train --gemm blocked", 2,
                 "--gemm is offered by stage01_serial and stage03_shared_memory, not by ladder "
                 "blocked");
}

// ------------------------------------------------------------------------------------------ rungs

class LadderRungs : public LadderTrainings {};

TEST_F(LadderRungs, LearnsWhatStage03Learns) {
  for (const std::string options :
       {"", "--gemm tile-16", "--gemm dot-interleaved", "--gemm dot-last-warp --reduce last-warp",
        "--reduce interleaved"}) {
    expect_training("ladder rungs", "stage03_shared_memory", options);
    run_well("stage01_serial" + perceptron + "--save 1.h5");
    run_well("compare_checkpoints 1.h5 ladder.h5 --tolerance 1e-10");
  }
  expect_evaluation("ladder rungs");
}

TEST_F(LadderRungs, HasTheStagesRungsBitForBit) {
  for (const std::string options : {"", "--gemm tile-16", "--reduce interleaved"}) {
    run_well("ladder rungs" + perceptron + options + " --save ladder.h5");
    run_well("stage03_shared_memory" + perceptron + options + " --save stage.h5");
    run_well("compare_checkpoints stage.h5 ladder.h5 --tolerance 0");
  }
}

TEST_F(LadderRungs, RoundsWithTensorCores) {
  const std::string floats =
      " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --epochs 1 ";
  run_well("stage03_shared_memory" + floats + "--save own.h5");
  for (const std::string gemm : {"tf32", "bf16", "3xtf32"}) {
    run_well("ladder rungs" + floats + "--save rounded.h5 --gemm " + gemm);
    run_well("compare_checkpoints own.h5 rounded.h5 --tolerance 1e-1");
    const Outcome outcome = run("compare_checkpoints own.h5 rounded.h5 --tolerance 0");
    EXPECT_EQ(outcome.exit_code, 1) << gemm << ": nothing was rounded";
  }
}

TEST_F(LadderRungs, Im2colTrainsAsStage03) {
  run_well("stage03_shared_memory" + cnn + "--precision double --save implicit.h5");
  for (const std::string gemm : {"auto", "tile-16"}) {
    run_well("ladder rungs" + cnn +
             "--convolution im2col --precision double --save im2col.h5 --gemm " + gemm);
    run_well("compare_checkpoints implicit.h5 im2col.h5 --tolerance 1e-10");
  }
}

TEST_F(LadderRungs, ContinuesAsIfItHadNeverStopped) {
  expect_resumption("ladder rungs" + perceptron + "--gemm dot-last-warp", "ladder rungs");
  expect_failure("ladder rungs train --resume part.h5 --gemm tile-16", 1,
                 "--gemm tile-16 contradicts the checkpoint part.h5, which has dot-last-warp; ...");
}

TEST_F(LadderRungs, RefusesWhatItDoesNotKnow) {
  expect_failure("ladder rungs train --gemm tile-17", 2,
                 "--gemm: 'tile-17' is not one of auto, ...");
  expect_failure("ladder rungs train --reduce tree", 2, "--reduce: 'tree' is not one of ...");
  expect_failure("ladder rungs train --convolution gemm", 2,
                 "--convolution: 'gemm' is not one of auto, direct, im2col, implicit");
  expect_failure("ladder rungs train --block-size 16", 2,
                 "--block-size is offered by stage02_naive_cuda, not by ladder rungs");
  expect_failure("ladder rungs train --fold-bias", 2,
                 "--fold-bias is offered by fold_bias, not by ladder rungs");
}

// ------------------------------------------------------------------------------------------- tf32

TEST_F(LadderTrainings, Tf32ChangesConvolutions) {
  run_well("stage04_minibatch" + cnn + "--save own.h5");
  run_well("ladder tf32" + cnn + "--save tf32.h5");
  run_well("compare_checkpoints own.h5 tf32.h5 --tolerance 1e-1");
  const Outcome outcome = run("compare_checkpoints own.h5 tf32.h5 --tolerance 1e-7");
  EXPECT_EQ(outcome.exit_code, 1) << "nothing was rounded";
}

TEST_F(LadderTrainings, Tf32IsStage04WhereItIsOff) {
  for (const std::string options : {"", "--precision double ", "--fuse off "}) {
    run_well("ladder tf32" + cnn + options + "--math own --save ladder.h5");
    run_well("stage04_minibatch" + cnn + options + "--save stage.h5");
    run_well("compare_checkpoints stage.h5 ladder.h5 --tolerance 0");
  }
}

TEST_F(LadderTrainings, Tf32ContinuesAsIfItHadNeverStopped) {
  for (const std::string math : {"tf32", "own"}) {
    const std::string options = cnn.substr(0, cnn.find("--epochs")) + "--math " + math;
    expect_resumption("ladder tf32" + options, "ladder tf32");
  }
  expect_failure("ladder tf32 train --resume part.h5 --math tf32", 1,
                 "--math tf32 contradicts the checkpoint part.h5, which has own; ...");
}

TEST_F(LadderTrainings, Tf32EvaluatesUpToItsRounding) {
  run_well("stage04_minibatch" + cnn + "--save cnn.h5");
  const std::string evaluate = " evaluate --load cnn.h5 --test-limit 20";
  const double own = report_of("stage04_minibatch" + evaluate).at("test_loss");
  const double rounded = report_of("ladder tf32" + evaluate).at("test_loss");
  EXPECT_NE(rounded, own) << "nothing was rounded";
  EXPECT_NEAR(rounded, own, 1e-2);
}

TEST_F(LadderTrainings, Tf32IsForFusedConvolutionsOfFloats) {
  expect_failure("ladder tf32 train --model cnn --precision double", 2,
                 "--math tf32 rounds floats: it is for --precision float");
  expect_failure("ladder tf32 train --model cnn --fuse off", 2,
                 "--math tf32 needs fused convolutions, and --fuse off leaves none");
}

// ------------------------------------------------------------------------------------- persistent

class LadderPersistent : public LadderTrainings {
 protected:
  void SetUp() override { need_device("ladder persistent"); }
};

TEST_F(LadderPersistent, LearnWhatTheStagesBeforeLearn) {
  for (const std::string options :
       {"", "--persistent on", "--persistent auto", "--persistent off"}) {
    expect_training("ladder persistent", "stage04_minibatch", options);
    run_well("stage01_serial" + perceptron + "--save 1.h5");
    run_well("compare_checkpoints 1.h5 ladder.h5 --tolerance 1e-10");
  }
  expect_evaluation("ladder persistent");
}

TEST_F(LadderPersistent, AreStage04sWhereNoKernelIsFor) {
  const auto expect_same = [&](const std::string& options, const std::string& choice) {
    run_well("ladder persistent" + options + choice + " --save ladder.h5");
    run_well("stage04_minibatch" + options + " --save stage.h5");
    run_well("compare_checkpoints stage.h5 ladder.h5 --tolerance 0");
  };
  expect_same(perceptron, "--persistent off");
  const std::string layers =
      " train --train-limit 53 --test-limit 20 --batch-size 20 --epochs 2 --hidden 9,9";
  for (const std::string& options :
       {perceptron + "--fuse off", perceptron + "--gather kernel", perceptron + "--stream-batches",
        perceptron + "--workers 3", perceptron + "--optimizer adam", layers, cnn}) {
    expect_same(options, "");
  }
}

TEST_F(LadderPersistent, AreOneLine) {
  const json report = report_of("ladder persistent" + perceptron + "--epochs 2 --timings");
  bool has_step = false;
  for (const json& row : report.at("timings")) {
    has_step = has_step || row.at("operation").get<std::string>().starts_with("persistent_step  ");
  }
  EXPECT_TRUE(has_step) << report.at("timings");
}

TEST_F(LadderPersistent, ContinueAsIfTheyHadNeverStopped) {
  for (const std::string options : {"", "--persistent off", "--workers 3"}) {
    expect_resumption("ladder persistent" + perceptron + options, "ladder persistent");
  }
}

TEST_F(LadderPersistent, ContinueWhatStage01Began) {
  run_well("stage01_serial" + perceptron + "--epochs 5 --save whole.h5");
  run_well("stage01_serial" + perceptron + "--epochs 2 --save part.h5");
  run_well("ladder persistent train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
  run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 1e-10");
}

TEST_F(LadderPersistent, StopWhenTheLossIsNoNumberAndSaveNothing) {
  for (const std::string options : {"", "--persistent auto", "--persistent off"}) {
    expect_failure(
        "ladder persistent train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 "
        "--epochs 3 --learning-rate 1e30 --save model.h5 --save-every 1 " +
            options,
        1,
        "the loss became NaN in epoch 1, step 2, and training stopped; a learning rate smaller "
        "than 1e+30 may help...");
    EXPECT_FALSE(fs::exists(path("model.h5"))) << options;
  }
}

TEST_F(LadderPersistent, RefuseWhatTheyDoNotKnow) {
  expect_failure("ladder persistent train --persistent sometimes", 2,
                 "--persistent: 'sometimes' is not one of on, auto, off");
  expect_failure("ladder persistent train --persistent", 2, "--persistent needs a value");
  expect_failure("ladder persistent train --persistent on --persistent off", 2,
                 "--persistent is given more than once");
  for (const std::string stage : {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory",
                                  "stage04_minibatch", "ladder rungs", "per_step_memory"}) {
    for (const std::string value : {"", " on", " auto", " off"}) {
      expect_offered("persistent" + value, "ladder persistent", stage);
    }
  }
}

TEST_F(LadderPersistent, ShowTheirOptionWhereItDecides) {
  const Outcome outcome =
      run("ladder persistent evaluate --load digits.h5 --test-limit 20 --persistent off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "ladder persistent: note: --persistent has no effect here: it is for train.\n");
  EXPECT_EQ(run_well("ladder persistent evaluate --help").find("--persistent"), std::string::npos);
}

}  // namespace
}  // namespace stagewise
