// Stage 04's program: the lines that it times, where it finds a NaN, and what it does when the
// GPU's memory is too small.

#include <map>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Stage04 : public CommandLine {
 protected:
  void SetUp() override { need_device("stage04_minibatch"); }

  static inline const std::string program = "stage04_minibatch";
};

// ---------------------------------------------------------------------------------------- timings

TEST_F(Stage04, TimesTheStepsOfAllWorkers) {
  const auto rows_of = [&](const std::string& options) {
    std::map<std::string, int> calls;
    const json report = report_of(program + smooth_training + "--epochs 2 --timings " + options);
    for (const json& row : report.at("timings")) {
      EXPECT_FALSE(calls.contains(row.at("operation"))) << "two rows: " << row;
      calls[row.at("operation").get<std::string>()] = row.at("calls");
      const double forward = row.at("forward_seconds");
      const double backward = row.at("backward_seconds");
      EXPECT_GT(forward + backward, 0) << row;
      EXPECT_EQ(forward * backward, 0) << row;
    }
    return calls;
  };
  using Rows = std::map<std::string, int>;
  const std::string chunk = "take_chunk  order -> samples of the next steps";
  EXPECT_EQ(
      rows_of(""),  // 6 steps
      (Rows{{chunk, 6},
            {"linear  features, order, fc1/weight, fc1/bias -> fc1/output", 6},
            {"output_layer  fc1/output, fc2/weight, fc2/bias, labels, order -> d fc1/sum, "
             "shares, partials",
             6},
            {"linear_gradients  features, order, ..., totals -> fc1/weight, fc1/bias, fc2/weight, "
             "fc2/bias, totals",
             6}}));
  const auto calls_of = [](const Rows& rows, const std::string& operation) {
    std::vector<int> calls;
    for (const auto& [row, times] : rows) {
      if (row.starts_with(operation + "  ")) calls.push_back(times);
    }
    return calls;
  };
  const Rows shared = rows_of("--workers 3");  // 5 lines of each worker, and the update of all
  EXPECT_EQ(shared.size(), 17U);
  EXPECT_EQ(calls_of(shared, "linear"), (std::vector{6, 6, 6}));
  EXPECT_EQ(calls_of(shared, "update_by_sum"), std::vector{6});
  const Rows averaged = rows_of("--workers 3 --average weights --average-every 2");
  EXPECT_EQ(calls_of(averaged, "linear"), (std::vector{6, 6, 6}));
  EXPECT_EQ(calls_of(averaged, "average_weights"),
            std::vector{5});  // 3, and one at the end of each epoch
}

// ------------------------------------------------------------------------------------ what is NaN

TEST_F(Stage04, StopsWhenTheLossIsNoNumberAndSavesNothing) {
  const std::string nan = "the loss became NaN in epoch 1, step 2, and training stopped; a ...";
  expect_failures(
      program +
          " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --epochs 3 "
          "--learning-rate 1e30 --save model.h5 --save-every 1 ",
      1,
      {{"", nan},
       {"--stream-batches", nan},
       {"--workers 3 --average weights --average-every 2", nan}});
}

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
    EXPECT_EQ(between(outcome.err, ", step ", ","), between(serial.err, ", step ", ","))
        << outcome.err << serial.err;
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
    const Outcome outcome = run(program + smooth_training);
    if (count(run_well("stage04_minibatch info"), "CUDA on the CPU") == 0) {
      GTEST_SKIP() << "only an emulated GPU can be made smaller";
    }
    ASSERT_EQ(outcome.exit_code, 1) << outcome.out;
    of_backend_ = 1e6 * std::stod(between(outcome.err, "too little memory: ", " MB more"));
  }

  void set_memory(double bytes) {
    surroundings_.variables["STAGEWISE_CPU_DEVICE_MEMORY"] =
        std::to_string(static_cast<std::int64_t>(bytes));
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
    std::string sentence =
        expect_failure(large_training + options, 1, "(STAGEWISE_CPU_DEVICE_MEMORY)");
    expect_contains(sentence, " are free; a smaller network or --batch-size ");
    return sentence;
  };
  refusal(of_backend_ / 2, "--hidden 8");
  refusal(of_backend_ + 1e6, "--hidden 8");     // batches
  refusal(of_backend_ + 6e6, "--hidden 2000");  // parameters
  // Every worker has lanes of its own, each with workspaces: there, one option more would help.
  expect_contains(refusal(2.5 * of_backend_, "--hidden 8 --workers 4"),
                  ", and so do fewer --workers.");
}

}  // namespace
}  // namespace stagewise
