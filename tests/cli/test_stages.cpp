// The programs of stages 02 to 04: they train what stage 01 trains, each with its own options; the
// lines that stage 04 times, where it finds a NaN, and what it does when the GPU's memory is too
// small.

#include <cstdlib>

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

class Stages : public Trainings {
 protected:
  void SetUp() override { need_device("stage02_naive_cuda"); }
};

/// By default, which is 5 epochs, and with options of their own.
TEST_F(Stages, LearnWhatStage01Learns) {
  for (const auto& [program, options] : table("forms_of_stages")) {
    expect_training(program, options);
  }
  for (const std::string workers : {"--workers 3", "--workers 2 --average weights --average-every 4"}) {
    expect_training("stage04_minibatch", workers, workers);
  }
}

TEST_F(Stages, AnswerAsStage01) {
  for (const std::string program : {"stage02_naive_cuda", "stage03_shared_memory", "stage04_minibatch"}) {
    expect_answers(program);
  }
}

/// As if they had never stopped; also with another choice, where that changes no number; and what
/// stage 01 began, whose checkpoint says nothing of what only stage 04 has.
TEST_F(Stages, ContinueTrainings) { run_table("resumed_by_stages"); }

// ----------------------------------------------------------------------------------- what is wrong

/// Wrong usage, and losses that become NaN, after which nothing is saved.
TEST_F(Stages, SayWhatIsWrong) { run_table("stages"); }

class Stage04 : public Stages {};

// ---------------------------------------------------------------------------------------- timings

TEST_F(Stage04, TimesTheStepsOfAllWorkers) {
  using Rows = std::map<std::string, std::vector<int>>;  // calls of each row, by its operation
  const auto rows_of = [&](const std::string& options) {
    Rows calls;
    std::set<std::string> rows;
    const json report = report_of("stage04_minibatch" + smooth_training + "--epochs 2 --timings " + options);
    for (const json& row : report.at("timings")) {
      const std::string line = row.at("operation");
      EXPECT_TRUE(rows.insert(line).second) << "two rows: " << row;
      calls[line.substr(0, line.find(' '))].push_back(row.at("calls").get<int>());
      const double forward = row.at("forward_seconds");
      const double backward = row.at("backward_seconds");
      EXPECT_GT(forward + backward, 0) << row;
      EXPECT_EQ(forward * backward, 0) << row;
    }
    return calls;
  };
  EXPECT_EQ(rows_of(""), (Rows{{"take_chunk", {6}},  // 6 steps
                               {"linear", {6}},
                               {"output_layer", {6}},
                               {"linear_gradients", {6}}}));
  Rows shared = rows_of("--workers 3");
  EXPECT_EQ(shared["linear"], (std::vector{6, 6, 6}));
  EXPECT_EQ(shared["update_by_sum"], std::vector{6}) << "that of all";
  Rows averaged = rows_of("--workers 3 --average weights --average-every 2");
  EXPECT_EQ(averaged["linear"], (std::vector{6, 6, 6}));
  EXPECT_EQ(averaged["average_weights"], std::vector{5}) << "3, and one at the end of each epoch";
}

// ------------------------------------------------------------------------------------ what is NaN

/// Steps are counted within an epoch, across the recordings that an epoch is made of: here it is
/// step 46, in the second recording.
TEST_F(Stage04, NamesTheEpochAndTheStepOfALossThatIsNoNumber) {
  const std::string options =
      " train --train-limit 300 --test-limit 20 --hidden none --loss squared-error "
      "--batch-size 4 --epochs 2 --learning-rate 0.05";
  const Outcome serial = run("stage01_serial" + options);
  ASSERT_EQ(serial.exit_code, 1) << "choose numbers that diverge: " << serial.out;
  const std::string place = between(serial.err, " in epoch ", ",");
  for (const std::string workers : {"", " --workers 2"}) {
    const Outcome outcome = run("stage04_minibatch" + options + workers);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(between(outcome.err, " in epoch ", ","), place) << outcome.err;
    EXPECT_EQ(between(outcome.err, ", step ", ","), between(serial.err, ", step ", ",")) << outcome.err << serial.err;
  }
}

// ----------------------------------------------------------------------------- the GPU's memory

class Stage04Memory : public Stage04 {
 protected:
  void SetUp() override {
    Stage04::SetUp();
    if (IsSkipped()) return;
    // What the backend takes first, whatever the network: its workspace.
    set_memory(1000);
    const Outcome outcome = run("stage04_minibatch" + smooth_training);
    if (count(run_well("stage04_minibatch info"), "CUDA on the CPU") == 0) {
      GTEST_SKIP() << "only an emulated GPU can be made smaller";
    }
    ASSERT_EQ(outcome.exit_code, 1) << outcome.out;
    of_backend_ = 1e6 * std::stod(between(outcome.err, "too little memory: ", " MB more"));
  }

  void set_memory(double bytes) {
    surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] = std::to_string(static_cast<std::int64_t>(bytes));
  }

  double of_backend_ = 0;
};

// 4,000 images of 3,136 bytes.
const std::string large_training =
    "stage04_minibatch train --train-limit 4000 --test-limit 20 --batch-size 500 --epochs 1 ";

TEST_F(Stage04Memory, ADataSetThatDoesNotFitIsStreamed) {
  set_memory(of_backend_ + 30e6);
  const std::string resident = run_well(large_training + "--hidden 8 --save resident.h5");
  EXPECT_EQ(count(resident, "streamed"), 0) << resident;
  set_memory(of_backend_ + 9e6);
  const std::string streamed = run_well(large_training + "--hidden 8 --save streamed.h5");
  // 12.6 MB of data, and four batches: one for the step, two on their way, one for evaluation.
  expect_contains(streamed, "note   17.6 MB are needed to keep the data, ");
  expect_contains(streamed, " MB are free: batches are streamed\n");
  expect_same("resident.h5", "streamed.h5", "1e-5");
}

TEST_F(Stage04Memory, ANetworkThatDoesNotFitIsRefused) {
  const auto refusal = [&](double bytes, const std::string& options) {
    set_memory(bytes);
    std::string sentence = expect_failure(large_training + options, 1, "(STAGEWISE_CPU_DEVICE_MEMORY)");
    expect_contains(sentence, " are free; a smaller network or --batch-size ");
    return sentence;
  };
  refusal(of_backend_ / 2, "--hidden 8");
  refusal(of_backend_ + 1e6, "--hidden 8");     // batches
  refusal(of_backend_ + 6e6, "--hidden 2000");  // parameters
  // Every worker has lanes of its own, each with workspaces: there, one option more would help.
  expect_contains(refusal(2.5 * of_backend_, "--hidden 8 --workers 4"), ", and so do fewer --workers.");
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
    arguments_ = " evaluate --model cnn --dataset mnist --load " + (data / "ece408" / "model.hdf5").string();
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
