// What a run may not have: memory that the host lacks.

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Limits : public CommandLine {
 protected:
  void allow(unsigned megabytes) {
    surroundings_.shell = "ulimit -v " + std::to_string(1024 * megabytes) + "; exec \"$@\"";
  }
};

class LimitsOfAStage : public Limits, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { need_device(GetParam()); }
};

/// The run succeeds, or says in one sentence that there is too little. NVIDIA's driver and
/// libraries are too large for these limits, and MPI may have its own say, before or after.
TEST_P(LimitsOfAStage, EndsWithASentenceWhereMemoryIsShort) {
  surroundings_.longest_run = 60;
  for (const unsigned megabytes : {150U, 200U, 300U, 400U, 500U}) {
    allow(megabytes);
    const Outcome outcome =
        run(GetParam() + " train --train-limit 20 --test-limit 10 --hidden 8 --batch-size 10 --epochs 1");
    SCOPED_TRACE(std::to_string(megabytes) + " MB\n" + outcome.err);
    const auto says = [&](const std::string& part) { return count(outcome.err, part) > 0; };
    EXPECT_FALSE(says("terminate called"));
    if (outcome.exit_code == 0 || says("error while loading shared libraries") || says("no GPU can be used here") ||
        says("failed to map segment")) {
      continue;
    }
    expect_contains(outcome.err, "the host has too little memory");
    if (GetParam() == "stage05_mpi") continue;
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(lines_of(outcome.err).size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, LimitsOfAStage, testing::ValuesIn(stages()),
                         [](const auto& stage) { return test_name(stage.param); });

TEST_F(Limits, OpenBlasDoesNotWaitForMemory) {
  surroundings_.longest_run = 60;
  for (const unsigned megabytes : {100U, 150U}) {
    allow(megabytes);
    const Outcome outcome =
        run("stage01_serial train --gemm blas --train-limit 20 --test-limit 10 --batch-size 10 "
            "--epochs 1");
    if (outcome.exit_code == 0) continue;
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    expect_contains(outcome.err, "the host has too little memory");
  }
}

TEST_F(Limits, ANetworkThatIsTooLargeIsRefusedAtOnce) {
  const std::string train = "stage01_serial train ";
  surroundings_.longest_run = 30;
  expect_failure(train + "--hidden 16777216,16777216", 1, "for a batch of 100 samples, needs at ...");
  allow(1024);
  expect_failure(train + "--hidden 16777216", 1,
                 "the network, for a batch of 100 samples, needs at least 120 GB, but ...");
  allow(512);
  expect_failure(train + "--model cnn --train-limit 10000 --batch-size 10000 --precision double", 1,
                 "the network, for a batch of 10,000 samples, needs at least ...");
}

}  // namespace
}  // namespace stagewise
