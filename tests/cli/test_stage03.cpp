// Stage 03's program: its own options of training.

#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Stage03Training : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }

  static inline const std::string program = "stage03_shared_memory ";
  static inline const std::string training =
      "train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
      "--activation sigmoid";
};

TEST_F(Stage03Training, LearnsWhatTheStagesBeforeLearn) {
  run_well("stage01_serial " + training + " --save 1.h5");
  run_well("stage02_naive_cuda " + training + " --save 2.h5");
  for (const std::string options :
       {"", "--gemm tile-16", "--reduce last-warp", "--reduce interleaved"}) {
    run_well(program + training + " " + options + " --save 3.h5");
    run_well("compare_checkpoints 1.h5 3.h5 --tolerance 1e-10");
    run_well("compare_checkpoints 2.h5 3.h5 --tolerance 1e-10");
  }
}

TEST_F(Stage03Training, HelpTextsFit) {
  for (const std::string& line : lines_of(run_well(program + "--help"))) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
}

TEST_F(Stage03Training, RefusesWhatItDoesNotKnow) {
  expect_failure(
      program, 2,
      "say what to do: train, evaluate, predict or info (see stage03_shared_memory --help)");
  expect_failure(program + "train --gemm tile-17", 2, "--gemm: 'tile-17' is not one of auto, ...");
  expect_failure(program + "train --reduce tree", 2, "--reduce: 'tree' is not one of ...");
  expect_failure(program + "train --convolution gemm", 2,
                 "--convolution: 'gemm' is not one of auto, direct, implicit");
  for (const std::string rung : {"dot-last-warp", "tf32", "bf16", "3xtf32", "wgmma-bf16"}) {
    expect_failure(program + "train --gemm " + rung, 2,
                   "--gemm: '" + rung + "' is not one of auto, ...");
  }
  expect_failure(program + "train --block-size 16", 2,
                 "--block-size is offered by stage02_naive_cuda, not by stage03_shared_memory");
  for (const std::string option : {"fold-bias", "fold-bias=in-place", "fold-bias off"}) {
    expect_failure(program + "train --" + option, 2,
                   "--fold-bias is offered by fold_bias, not by stage03_shared_memory");
  }
  for (const std::string option : {"reduce", "convolution"}) {
    expect_failure("stage02_naive_cuda train --" + option, 2,
                   "--" + option + " is offered by stage03_shared_memory, not by ...");
  }
}

}  // namespace
}  // namespace stagewise
