// The stages' programs with kernels that no stage executes: commands of the ladder, and the
// reports' experiments that train.

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

class Variants : public Trainings {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }
};

/// By default, which is 5 epochs, and with options of their own.
TEST_F(Variants, LearnWhatStage01Learns) {
  for (const auto& [program, options] : table("forms_of_variants")) {
    expect_training(program, options);
  }
  expect_training("ladder blocked", "--workers 3", "--workers 3");
}

TEST_F(Variants, AnswerAsStage01) {
  for (const std::string program :
       {"ladder blocked", "ladder rungs", "ladder persistent", "per_step_memory", "fold_bias"}) {
    expect_answers(program);
  }
}

TEST_F(Variants, ContinueTrainings) { run_table("resumed_by_variants"); }

/// Also with memory per step, which keeps memory where an optimizer has values of its own, and with
/// a persistent kernel where one cannot be used.
TEST_F(Variants, HaveTheStagesNumbersWhereTheirsAreNotAskedFor) { run_table("same_numbers"); }

/// A folded bias is added in another order.
TEST_F(Variants, RoundWhereTheirsAre) {
  run_table("rounded_numbers");
  const std::string evaluate = " evaluate --load own.h5 --test-limit 20";
  const double own = report_of("stage04_minibatch" + evaluate).at("test_loss");
  const double rounded = report_of("ladder tf32" + evaluate).at("test_loss");
  EXPECT_NE(rounded, own) << "nothing was rounded";
  EXPECT_NEAR(rounded, own, 1e-2);
}

TEST_F(Variants, APersistentStepIsOneLine) {
  const json report = report_of("ladder persistent" + smooth_training + "--epochs 2 --timings");
  EXPECT_EQ(count(report.at("timings").dump(), "\"persistent_step  "), 1) << report;
}

TEST_F(Variants, SayWhatIsWrong) {
  run_table("variants");
  // What only the executor knows is said below the training's head.
  for (const auto& [option, said] :
       Sayings{{"--precision double", "--math tf32 rounds floats: it is for --precision float"},
               {"--fuse off", "--math tf32 needs fused convolutions, and --fuse off leaves none"}}) {
    const Outcome outcome = run("ladder tf32 train --model cnn " + option);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "ladder tf32: " + said + ".\n");
  }
}

}  // namespace
}  // namespace stagewise
