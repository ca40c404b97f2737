// The reports' experiments that train: stage 02 with a step that keeps nothing on the GPU, and
// stage 03 with biases as rows of the weights.

#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

const std::string training =
    " train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
    "--activation sigmoid ";

class ReportProgram : public CommandLine {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }

  void expect_evaluation(const std::string& program) {
    const std::string evaluate = " evaluate --load double.h5 --test-limit 77 --batch-size 10";
    const json serial = report_of("stage01_serial" + evaluate);
    const json own = report_of(program + evaluate);
    EXPECT_EQ(own.at("test_accuracy"), serial.at("test_accuracy"));
    EXPECT_NEAR(own.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-12);
  }

  void expect_resumption(const std::string& program, const std::string& options) {
    run_well(program + training + options + " --epochs 5 --save whole.h5");
    run_well(program + training + options + " --epochs 2 --save part.h5");
    run_well(program + " train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
    EXPECT_EQ(read_file(path("rest.h5")), read_file(path("whole.h5"))) << options;
  }
};

TEST_F(ReportProgram, WantsToKnowWhatToDo) {
  for (const std::string program : {"per_step_memory", "fold_bias"}) {
    expect_failure(program, 2,
                   "say what to do: train, evaluate, predict or info (see " + program + " --help)");
    EXPECT_TRUE(run_well(program + training).starts_with(program + " on "));
    EXPECT_EQ(report_of(program + training).at("stage"), program);
  }
}

TEST_F(ReportProgram, PerStepMemoryChangesNoBit) {
  run_well("stage02_naive_cuda" + training + "--save plain.h5");
  for (const std::string options :
       {"", "--memory per-step", "--memory once", "--block-size 4", "--block-size 32"}) {
    run_well("per_step_memory" + training + options + " --save other.h5");
    run_well("compare_checkpoints plain.h5 other.h5 --tolerance 0");
  }
  expect_evaluation("per_step_memory");
}

TEST_F(ReportProgram, PerStepMemoryContinues) {
  for (const std::string options : {"", "--memory once", "--l2 0.01"}) {
    expect_resumption("per_step_memory", options);
  }
  run_well("stage01_serial" + training + "--epochs 5 --save whole.h5");
  run_well("stage01_serial" + training + "--epochs 2 --save part.h5");
  run_well("per_step_memory train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
  run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 1e-10");
}

/// Unasked, it keeps memory where an optimizer has values of its own.
TEST_F(ReportProgram, PerStepMemoryIsForPlainSgd) {
  run_well("stage02_naive_cuda" + training + "--optimizer adam --save plain.h5");
  run_well("per_step_memory" + training + "--optimizer adam --save other.h5");
  run_well("compare_checkpoints plain.h5 other.h5 --tolerance 0");
}

TEST_F(ReportProgram, PerStepMemoryRefusesWhatItDoesNotOffer) {
  expect_failure("per_step_memory train --memory twice", 2,
                 "--memory: 'twice' is not one of per-step, once");
  expect_failure("per_step_memory train --memory", 2, "--memory needs a value");
  expect_failure("per_step_memory train --block-size 5", 2,
                 "--block-size: '5' is not one of 4, 8, 16, 32");
  expect_failure("per_step_memory train --workers 2", 2,
                 "--workers is offered by stage01_serial, stage04_minibatch and stage05_mpi, not "
                 "by per_step_memory");
  expect_failure("per_step_memory train --gemm naive", 2,
                 "--gemm is offered by stage01_serial and stage03_shared_memory, not by "
                 "per_step_memory");
  for (const std::string stage : {"stage01_serial", "stage03_shared_memory", "stage04_minibatch"}) {
    expect_failure(stage + " train --memory per-step", 2,
                   "--memory is offered by per_step_memory, not by " + stage);
  }
}

TEST_F(ReportProgram, FoldedBiasesLearnWhatTheStagesLearn) {
  run_well("stage01_serial" + training + "--save 1.h5");
  run_well("stage02_naive_cuda" + training + "--save 2.h5");
  for (const std::string options :
       {"", "--fold-bias", "--fold-bias in-place", "--fold-bias out-of-place", "--fold-bias off"}) {
    run_well("fold_bias" + training + options + " --save 3.h5");
    run_well("compare_checkpoints 1.h5 3.h5 --tolerance 1e-10");
    run_well("compare_checkpoints 2.h5 3.h5 --tolerance 1e-10");
  }
  expect_evaluation("fold_bias");
}

TEST_F(ReportProgram, AFoldedBiasIsNeitherRefusedNorTakenForAnother) {
  run_well("stage03_shared_memory" + training + "--save stage.h5");
  run_well("fold_bias" + training + "--fold-bias off --save plain.h5");
  run_well("compare_checkpoints stage.h5 plain.h5 --tolerance 0");
  // As a flag before another option; and its order of additions shows in the last digits.
  run_well("fold_bias train --fold-bias" + training.substr(6) + "--save folded.h5");
  EXPECT_EQ(run("compare_checkpoints plain.h5 folded.h5 --tolerance 0").exit_code, 1);
  run_well("fold_bias" + training + "--save default.h5");
  run_well("compare_checkpoints folded.h5 default.h5 --tolerance 0");
  expect_failure("fold_bias" + training + "--fold-bias --fold-bias=in-place", 2,
                 "--fold-bias is given more than once");
}

TEST_F(ReportProgram, FoldedBiasesContinue) {
  for (const std::string options : {"", "--fold-bias out-of-place", "--fold-bias off"}) {
    expect_resumption("fold_bias", options);
  }
  expect_failure("fold_bias train --resume part.h5 --fold-bias", 1,
                 "--fold-bias in-place contradicts the checkpoint part.h5, which has off; ...");
}

TEST_F(ReportProgram, FoldBiasRefusesWhatItDoesNotOffer) {
  expect_failure("fold_bias train --fold-bias yes", 2,
                 "--fold-bias: 'yes' is not one of in-place, out-of-place, off");
  expect_failure("fold_bias train --fold-bias=", 2, "--fold-bias needs a value");
  expect_failure("fold_bias train --gemm naive", 2,
                 "--gemm is offered by stage01_serial and stage03_shared_memory, not by fold_bias");
  for (const std::string stage : {"stage01_serial", "stage02_naive_cuda", "stage04_minibatch"}) {
    for (const std::string value : {"", "=in-place", " off"}) {
      expect_failure(stage + " train --fold-bias" + value, 2,
                     "--fold-bias is offered by fold_bias, not by " + stage);
    }
  }
}

}  // namespace
}  // namespace stagewise
