// What a run may not have: memory that the host lacks, and files that are none.

#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Limits : public CommandLine {
 protected:
  void SetUp() override {
    if (sanitized) GTEST_SKIP() << "AddressSanitizer takes all addresses for itself";
  }

  /// NVIDIA's driver and libraries are too large for these limits; then the program has no say.
  static bool is_too_little_for_cuda(const Outcome& outcome) {
    return outcome.err.find("error while loading shared libraries") != std::string::npos ||
           outcome.err.find("no GPU can be used here") != std::string::npos;
  }

  /// Whether Open MPI ended because it could not even load its own parts.
  static bool is_too_little_for_mpi(const Outcome& outcome) {
    return outcome.err.find("failed to map segment") != std::string::npos;
  }

  /// Runs a command that may have so much memory: it succeeds, or says in one sentence that there
  /// is too little.
  void expect_success_or_sentence(const std::string& command, unsigned megabytes) {
    surroundings_.largest_memory = std::uint64_t{megabytes} << 20U;
    surroundings_.longest_run = 60;
    const Outcome outcome = run(command);
    const std::string what = command + " in " + std::to_string(megabytes) + " MB\n" + outcome.err;
    EXPECT_EQ(outcome.signal, 0) << what;
    if (outcome.exit_code == 0 || is_too_little_for_cuda(outcome)) return;
    EXPECT_EQ(outcome.exit_code, 1) << what;
    EXPECT_EQ(lines_of(outcome.err).size(), 1U) << what;
    EXPECT_NE(outcome.err.find("the host has too little memory"), std::string::npos) << what;
  }
};

class LimitsOfAStage : public Limits, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    Limits::SetUp();
    if (!IsSkipped()) need_device(GetParam());
  }
};

TEST_P(LimitsOfAStage, EndsWithASentenceWhereMemoryIsShort) {
  const std::string training =
      GetParam() + " train --train-limit 20 --test-limit 10 --hidden 8 --batch-size 10 --epochs 1";
  for (const unsigned megabytes : {150U, 200U, 300U, 400U, 500U}) {
    expect_success_or_sentence(training, megabytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, LimitsOfAStage,
                         testing::Values("stage01_serial", "stage02_naive_cuda",
                                         "stage03_shared_memory", "stage04_minibatch"),
                         [](const auto& stage) { return test_name(stage.param); });

#ifdef STAGEWISE_STAGE05
TEST_F(Limits, AProcessOfSeveralEndsWithASentenceToo) {
  need_device("stage05_mpi");
  if (IsSkipped()) return;
  surroundings_.longest_run = 60;
  for (const unsigned megabytes : {200U, 300U, 400U, 500U}) {
    surroundings_.largest_memory = std::uint64_t{megabytes} << 20U;
    const Outcome outcome = run(
        "stage05_mpi train --train-limit 20 --test-limit 10 --hidden 8 --batch-size 10 --epochs 1");
    const std::string what = std::to_string(megabytes) + " MB\n" + outcome.err;
    EXPECT_EQ(outcome.err.find("terminate called"), std::string::npos) << what;
    // MPI may have its own say, before or after.
    const bool says_it = outcome.err.find("the host has too little memory") != std::string::npos;
    EXPECT_TRUE(outcome.exit_code == 0 || says_it || is_too_little_for_cuda(outcome) ||
                is_too_little_for_mpi(outcome))
        << what;
  }
}
#endif

TEST_F(Limits, OpenBlasDoesNotWaitForMemory) {
  const std::string training =
      "stage01_serial train --gemm blas --train-limit 20 --test-limit 10 --batch-size 10 "
      "--epochs 1";
  for (const unsigned megabytes : {100U, 150U}) expect_success_or_sentence(training, megabytes);
}

TEST_F(Limits, ANetworkThatIsTooLargeIsRefusedAtOnce) {
  surroundings_.longest_run = 30;
  surroundings_.largest_memory = std::uint64_t{1} << 30U;
  expect_failure("stage01_serial train --hidden 16777216", 1,
                 "the network, for a batch of 100 samples, needs at least 120 GB, but ...");
  surroundings_.largest_memory = std::uint64_t{1} << 29U;
  expect_failure(
      "stage01_serial train --model cnn --train-limit 10000 --batch-size 10000 --precision double",
      1, "the network, for a batch of 10,000 samples, needs at least ...");
}

TEST_F(CommandLine, ReadsNothingButRegularFiles) {
  surroundings_.longest_run = 30;
  make_input("fifo");
  for (const std::string file : {"fifo", "/dev/zero"}) {
    for (const std::string format : {"csv", "cifar10", "hdf5", "idx"}) {
      if (file == "/dev/zero" && format == "idx") continue;  // refused for its name
      const std::string command = "stage01_serial train --format " + format + " --dataset " +
                                  (format == "idx" ? "train-images-" : "") + file +
                                  (format == "csv" ? " --label x" : "");
      if (format == "idx") {
        std::filesystem::rename(path("fifo"), path("train-images-fifo"));
      }
      expect_failure(command, 1, "cannot read ...");
      EXPECT_NE(run(command).err.find("it is not a regular file"), std::string::npos) << command;
      if (format == "idx") std::filesystem::rename(path("train-images-fifo"), path("fifo"));
    }
  }
  make_input("digits");
  std::filesystem::remove(path("digits/train-labels-idx1-ubyte"));
  std::filesystem::rename(path("fifo"), path("digits/train-labels-idx1-ubyte.gz"));
  expect_failure("stage01_serial train --format idx --dataset digits/train-images-idx3-ubyte", 1,
                 "cannot read digits/train-labels-idx1-ubyte.gz: it is not a regular file");
}

}  // namespace
}  // namespace stagewise
