// The stages' programs with kernels that no stage executes: commands of the ladder, and the
// reports' experiments that train.

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

class Variants : public Trainings {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }

  /// Expects that a program trains what a stage trains, bit for bit.
  void expect_bits_of(const std::string& stage, const std::string& program,
                      const std::string& options, const std::string& choice = "") {
    SCOPED_TRACE(program + " " + options + choice);
    run_well(stage + options + " --save stage.h5");
    run_well(program + options + choice + " --save own.h5");
    expect_same("stage.h5", "own.h5");
  }

  /// Expects that two checkpoints are within the tolerance, but not equal.
  void expect_rounded(const std::string& a, const std::string& b) {
    expect_same(a, b, "1e-1");
    EXPECT_EQ(run("compare_checkpoints " + a + " " + b + " --tolerance 1e-9").exit_code, 1)
        << "nothing was rounded";
  }
};

const std::string cnn =
    " train --model cnn --train-limit 20 --test-limit 5 --batch-size 10 --epochs 1 ";

const Sayings forms = {
    {"ladder blocked", ""},
    {"ladder rungs", ""},
    {"ladder rungs", "--gemm dot-last-warp --reduce last-warp"},
    {"ladder persistent", ""},
    {"ladder persistent", "--persistent on"},
    {"per_step_memory", ""},
    {"per_step_memory", "--memory once"},
    {"fold_bias", ""},
    {"fold_bias", "--fold-bias out-of-place"},
};

TEST_F(Variants, LearnWhatStage01Learns) {
  for (const auto& [program, options] : forms) expect_training(program, options);
  expect_training("ladder blocked", "--workers 3", "--workers 3");
}

TEST_F(Variants, AnswerAsStage01) {
  for (const std::string program :
       {"ladder blocked", "ladder rungs", "ladder persistent", "per_step_memory", "fold_bias"}) {
    expect_answers(program);
  }
}

TEST_F(Variants, ContinueAsIfTheyHadNeverStopped) {
  expect_resumption("ladder blocked", "");
  expect_resumption("ladder rungs", "--gemm dot-last-warp");
  expect_failure("ladder rungs train --resume part.h5 --gemm tile-16", 2,
                 "--gemm cannot be given with --resume: the checkpoint part.h5 decides ...");
  expect_resumption("ladder persistent", "");
  expect_resumption("ladder tf32", "--math tf32", cnn.substr(0, cnn.find("--epochs")));
  expect_resumption("per_step_memory", "--l2 0.01");
  expect_resumption("fold_bias", "--fold-bias out-of-place");
  for (const std::string program : {"ladder persistent", "per_step_memory"}) {
    expect_continuation("stage01_serial", program);
  }
}

TEST_F(Variants, HaveTheStagesNumbersWhereTheirsAreNotAskedFor) {
  expect_bits_of("stage03_shared_memory", "ladder rungs",
                 smooth_training + "--gemm tile-16 --reduce interleaved");
  expect_bits_of("stage03_shared_memory", "fold_bias", smooth_training, "--fold-bias off");
  expect_bits_of("stage02_naive_cuda", "per_step_memory", smooth_training + "--block-size 4");
  // Unasked, it keeps memory where an optimizer has values of its own.
  expect_bits_of("stage02_naive_cuda", "per_step_memory", smooth_training + "--optimizer adam");
  expect_bits_of("stage04_minibatch", "ladder tf32", cnn, "--math own");
  expect_bits_of("stage04_minibatch", "ladder tf32", cnn + "--precision double ", "--math own");
  expect_bits_of("stage04_minibatch", "ladder persistent", smooth_training, "--persistent off");
  for (const std::string options :
       {"--fuse off", "--gather kernel", "--stream-batches", "--workers 3", "--optimizer adam"}) {
    expect_bits_of("stage04_minibatch", "ladder persistent", smooth_training + options);
  }
  for (const std::string& training :
       {cnn, std::string(" train --train-limit 53 --test-limit 20 --batch-size 20 --hidden 9,9")}) {
    expect_bits_of("stage04_minibatch", "ladder persistent", training);
  }
}

TEST_F(Variants, RoundWhereTheirsAre) {
  const std::string floats =
      " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --epochs 1 ";
  run_well("stage03_shared_memory" + floats + "--save own.h5");
  for (const std::string gemm : {"tf32", "bf16", "3xtf32"}) {
    run_well("ladder rungs" + floats + "--save rounded.h5 --gemm " + gemm);
    expect_rounded("own.h5", "rounded.h5");
  }
  run_well("stage04_minibatch" + cnn + "--save own.h5");
  run_well("ladder tf32" + cnn + "--save rounded.h5");
  expect_rounded("own.h5", "rounded.h5");
  const std::string evaluate = " evaluate --load own.h5 --test-limit 20";
  const double own = report_of("stage04_minibatch" + evaluate).at("test_loss");
  const double rounded = report_of("ladder tf32" + evaluate).at("test_loss");
  EXPECT_NE(rounded, own) << "nothing was rounded";
  EXPECT_NEAR(rounded, own, 1e-2);
  // A folded bias is added in another order.
  run_well("fold_bias train --fold-bias" + smooth_training.substr(6) + "--save folded.h5");
  run_well("fold_bias" + smooth_training + "--fold-bias off --save plain.h5");
  EXPECT_EQ(run("compare_checkpoints plain.h5 folded.h5 --tolerance 0").exit_code, 1);
}

TEST_F(Variants, Im2colTrainsAsStage03) {
  run_well("stage03_shared_memory" + cnn + "--precision double --save implicit.h5");
  run_well("ladder rungs" + cnn +
           "--convolution im2col --precision double --save im2col.h5 --gemm tile-16");
  expect_same("implicit.h5", "im2col.h5", "1e-10");
}

TEST_F(Variants, APersistentStepIsOneLine) {
  const json report = report_of("ladder persistent" + smooth_training + "--epochs 2 --timings");
  EXPECT_EQ(count(report.at("timings").dump(), "\"persistent_step  "), 1) << report;
  const std::string nan = "the loss became NaN in epoch 1, step 2, and training stopped; a ...";
  expect_failure(
      "ladder persistent train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 "
      "--epochs 3 --learning-rate 1e30 --save model.h5 --save-every 1",
      1, nan);
}

TEST_F(Variants, RefuseWhatTheyDoNotKnow) {
  run_table("variants");
  // What only the executor knows is said below the training's head.
  for (const auto& [option, said] : Sayings{
           {"--precision double", "--math tf32 rounds floats: it is for --precision float"},
           {"--fuse off", "--math tf32 needs fused convolutions, and --fuse off leaves none"}}) {
    const Outcome outcome = run("ladder tf32 train --model cnn " + option);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "ladder tf32: " + said + ".\n");
  }
}

}  // namespace
}  // namespace stagewise
