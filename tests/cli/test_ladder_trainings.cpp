// The stages' programs with other convolutions, as commands of the ladder.

#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

const std::string cnn =
    " train --model cnn --train-limit 20 --test-limit 5 --batch-size 10 --epochs 1 ";

class LadderTrainings : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }

  /// The program's name is two words.
  void expect_refusal(const std::string& command, const std::string& beginning) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_TRUE(outcome.err.starts_with(beginning)) << outcome.err;
  }
};

TEST_F(LadderTrainings, Im2colTrainsAsStage03) {
  run_well("stage03_shared_memory" + cnn + "--precision double --save implicit.h5");
  for (const std::string gemm : {"auto", "tile-16"}) {
    run_well("ladder rungs" + cnn +
             "--convolution im2col --precision double --save im2col.h5 --gemm " + gemm);
    run_well("compare_checkpoints implicit.h5 im2col.h5 --tolerance 1e-10");
  }
}

TEST_F(LadderTrainings, RungsAreThoseOfTheLadders) {
  expect_refusal("ladder rungs train --gemm tile-17",
                 "ladder rungs: --gemm: 'tile-17' is not one of auto, ");
  expect_refusal("ladder rungs train --reduce tree",
                 "ladder rungs: --reduce: 'tree' is not one of ");
}

TEST_F(LadderTrainings, Tf32ChangesConvolutions) {
  run_well("stage04_minibatch" + cnn + "--save own.h5");
  run_well("ladder tf32" + cnn + "--save tf32.h5");
  run_well("compare_checkpoints own.h5 tf32.h5 --tolerance 1e-1");
  const Outcome outcome = run("compare_checkpoints own.h5 tf32.h5 --tolerance 1e-7");
  EXPECT_EQ(outcome.exit_code, 1) << "nothing was rounded";
}

TEST_F(LadderTrainings, Tf32IsForFusedConvolutionsOfFloats) {
  expect_refusal("ladder tf32 train --model cnn --precision double",
                 "ladder tf32: --math tf32 rounds floats: it is for --precision float");
  expect_refusal("ladder tf32 train --model cnn --fuse off",
                 "ladder tf32: --math tf32 needs fused convolutions, and --fuse off leaves none");
}

}  // namespace
}  // namespace stagewise
