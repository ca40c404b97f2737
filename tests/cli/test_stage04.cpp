// Stage 04's program: its own options of training, its workers, and what it does when the GPU's
// memory is too small.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Stage04 : public CommandLine {
 protected:
  void SetUp() override { need_device("stage04_minibatch"); }

  static inline const std::string program = "stage04_minibatch ";
  // 53 samples in batches of 20: two of them and a short one.
  static inline const std::string training =
      "train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
      "--activation sigmoid ";

  /// Whether the kernels run on the CPU, where the GPU's memory is what a variable says.
  bool is_emulated() {
    return report_of(program + training + "--epochs 0").at("cuda_on_cpu").get<bool>();
  }
};

// --------------------------------------------------------------------------------------- training

TEST_F(Stage04, LearnsWhatTheStagesBeforeLearn) {
  run_well("stage01_serial " + training + "--save 1.h5");
  run_well("stage03_shared_memory " + training + "--save 3.h5");
  for (const std::string options : {"", "--stream-batches", "--stream-batches=on", "--gather loads",
                                    "--gather kernel", "--fuse rows", "--fuse layers", "--fuse off",
                                    "--capture off", "--capture off --fuse off"}) {
    run_well(program + training + options + " --save 4.h5");
    run_well("compare_checkpoints 1.h5 4.h5 --tolerance 1e-10");
    run_well("compare_checkpoints 3.h5 4.h5 --tolerance 1e-10");
  }
}

TEST_F(Stage04, LearnsWithWorkersWhatStage01Simulates) {
  for (const std::string workers : {"--workers 3", "--workers 20", "--workers 3 --average weights",
                                    "--workers 2 --average weights --average-every 4"}) {
    run_well("stage01_serial " + training + workers + " --save 1.h5");
    const std::string output = run_well(program + training + workers + " --save 4.h5");
    run_well("compare_checkpoints 1.h5 4.h5 --tolerance 1e-10");
    EXPECT_EQ(output.find("\nworkers  ") == std::string::npos, workers.starts_with("--workers 1 "))
        << output;
    // The workers' own parameters, where they have them, are in the checkpoint, too.
    const Checkpoint serial = load_checkpoint(path("1.h5"));
    const Checkpoint minibatch = load_checkpoint(path("4.h5"));
    ASSERT_EQ(minibatch.workers.size(), serial.workers.size()) << workers;
    EXPECT_EQ(minibatch.workers.empty(), workers.find("weights") == std::string::npos);
  }
}

TEST_F(Stage04, RecordingAndStreamingChangeNoBit) {
  run_well(program + training + "--gather kernel --save plain.h5");
  for (const std::string options : {"--gather kernel", "--gather kernel --capture off",
                                    "--stream-batches", "--stream-batches --capture off"}) {
    run_well(program + training + options + " --save other.h5");
    run_well("compare_checkpoints plain.h5 other.h5 --tolerance 0");
  }
}

TEST_F(Stage04, EvaluatesBatchesThatAreStreamed) {
  run_well(program + training + "--save 4.h5");
  const auto result_of = [&](const std::string& stage) {
    return report_of(stage + " evaluate --load 4.h5 --test-limit 77 --batch-size 10");
  };
  const json serial = result_of("stage01_serial");
  const json minibatch = result_of("stage04_minibatch");
  EXPECT_EQ(minibatch.at("test_accuracy"), serial.at("test_accuracy"));
  EXPECT_NEAR(minibatch.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-12);
}

TEST_F(Stage04, HoldsAValidationSetOut) {
  const auto validations = [&](const std::string& stage) {
    std::vector<double> losses;
    const json report = report_of(stage + " " + training + "--validation 10 --epochs 2");
    for (const json& epoch : report.at("epochs")) {
      losses.push_back(epoch.at("validation_loss"));
    }
    return losses;
  };
  const std::vector<double> serial = validations("stage01_serial");
  const std::vector<double> minibatch = validations("stage04_minibatch");
  ASSERT_EQ(minibatch.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(minibatch[i], serial[i], 1e-12);
}

// ------------------------------------------------------------------------------------- resumption

TEST_F(Stage04, ContinuesAsIfItHadNeverStopped) {
  for (const std::string options :
       {"", "--workers 3", "--workers 3 --average weights --average-every 4",
        "--stream-batches --l2 0.01", "--precision float",
        "--optimizer momentum --schedule constant --warmup 5",
        "--optimizer adam --workers 3 --average weights --average-every 4",
        "--optimizer adam --stream-batches --capture off"}) {
    const std::string command =
        program +
        (options.starts_with("--precision")
             ? "train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 "
             : training) +
        options;
    run_well(command + " --epochs 5 --save whole.h5");
    run_well(command + " --epochs 2 --save part.h5");
    run_well(program + "train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
    EXPECT_EQ(read_file(path("rest.h5")), read_file(path("whole.h5"))) << options;
    EXPECT_NE(read_file(path("part.h5")), read_file(path("whole.h5"))) << options;
  }
}

TEST_F(Stage04, ContinuesWhatStage01Began) {
  for (const std::string options :
       {"--workers 3", "--workers 2 --average weights --average-every 4",
        "--workers 2 --average weights --average-every 4 --optimizer adam",
        "--optimizer momentum --warmup 5"}) {
    run_well("stage01_serial " + training + options + " --epochs 5 --save whole.h5");
    run_well("stage01_serial " + training + options + " --epochs 2 --save part.h5");
    run_well(program + "train --resume part.h5 --epochs 5 --test-limit 20 --save rest.h5");
    run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 1e-10");
  }
}

TEST_F(Stage04, ContinuesWithAnotherChoiceWhereThatChangesNoNumber) {
  run_well(program + training + "--epochs 3 --save whole.h5");
  run_well(program + training + "--epochs 2 --save part.h5");
  const std::string resume = program + "train --resume part.h5 --epochs 3 --save rest.h5";
  run_well(resume + " --capture off");
  run_well("compare_checkpoints whole.h5 rest.h5 --tolerance 0");
  expect_failure(resume + " --fuse off", 1,
                 "--fuse off contradicts the checkpoint part.h5, which has on; ...");
}

// ---------------------------------------------------------------------------------------- timings

TEST_F(Stage04, TimesTheStepsOfAllWorkers) {
  const auto rows_of = [&](const std::string& options) {
    std::map<std::string, int> calls;
    const json report = report_of(program + training + "--epochs 2 --timings " + options);
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
  Rows copied = rows_of("--gather kernel");
  EXPECT_EQ(copied.size(), 5U);
  EXPECT_EQ(copied["gather  features, labels, order -> batch, batch labels"], 6);
  EXPECT_EQ(copied["linear  batch, fc1/weight, fc1/bias -> fc1/output"], 6);
  Rows shared = rows_of("--workers 3");  // 5 lines of each worker, and the update of all
  EXPECT_EQ(shared.size(), 17U);
  for (const std::string worker : {"@0", "@1", "@2"}) {
    EXPECT_EQ(shared["linear  features, order" + worker + ", fc1/weight, fc1/bias -> fc1/output" +
                     worker],
              6);
  }
  const auto calls_of = [](const Rows& rows, const std::string& operation) {
    std::vector<int> calls;
    for (const auto& [row, count] : rows) {
      if (row.starts_with(operation + "  ")) calls.push_back(count);
    }
    return calls;
  };
  EXPECT_EQ(calls_of(shared, "update_by_sum"), std::vector{6});
  const Rows averaged = rows_of("--workers 3 --average weights --average-every 2");
  EXPECT_EQ(calls_of(averaged, "linear"), (std::vector{6, 6, 6}));
  EXPECT_EQ(calls_of(averaged, "average_weights"),
            std::vector{5});  // 3, and one at the end of each epoch
}

TEST_F(Stage04, PrintsItsTimings) {
  const std::string output = run_well(program + training + "--epochs 1 --timings --workers 2");
  const std::vector<std::string> lines = lines_of(output.substr(output.find("\nline ") + 1));
  ASSERT_GE(lines.size(), 6U) << output;
  double share = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].ends_with(" %")) continue;
    EXPECT_LE(lines[i].size(), 80U) << lines[i];
    EXPECT_EQ(lines[i].size(), lines[1].size()) << "columns are not aligned:\n" << output;
    share += std::stod(lines[i].substr(lines[i].size() - 8));
  }
  EXPECT_NEAR(share, 100, 0.5) << output;
}

// --------------------------------------------------------------------------------- wrong commands

TEST_F(Stage04, RefusesWhatItDoesNotKnow) {
  for (const std::string option : {"stream-batches", "fuse", "capture"}) {
    expect_failure(program + "train --" + option + " sometimes", 2,
                   "--" + option + ": 'sometimes' is not one of o...");
  }
  expect_failure(program + "train --gather host", 2,
                 "--gather: 'host' is not one of auto, loads, kernel");
  expect_failure(program + "train --gather", 2, "--gather needs a value");
  expect_failure(program + "train --capture on --capture off", 2,
                 "--capture is given more than once");
  expect_failure(program + "train --gemm naive", 2,
                 "--gemm is offered by stage01_serial and stage03_shared_memory, not by "
                 "stage04_minibatch");
  expect_failure(program + "train --block-size 16", 2,
                 "--block-size is offered by stage02_naive_cuda, not by stage04_minibatch");
  expect_failure(program + "train --reduce", 2,
                 "--reduce is offered by stage03_shared_memory, not by ...");
  for (const auto& [option, place] :
       std::map<std::string, std::string>{{"fold-bias", "fold_bias"},
                                          {"math tf32", "ladder tf32"},
                                          {"memory once", "per_step_memory"},
                                          {"persistent", "ladder persistent"},
                                          {"persistent on", "ladder persistent"}}) {
    expect_failure(program + "train --" + option, 2,
                   "--" + option.substr(0, option.find(' ')) + " is offered by " + place +
                       ", not by stage04_minibatch");
  }
  for (const std::string option : {"strategy", "transport"}) {
    expect_failure(program + "train --" + option + " x", 2,
                   "--" + option + " is offered by stage05_mpi, not by stage04_minibatch");
  }
}

TEST_F(Stage04, RefusesToGatherInLoadsWhereNoProductReadsTheData) {
  const std::string gather = program + "train --train-limit 20 --batch-size 5 --gather loads ";
  expect_failure(gather + "--fuse off", 2,
                 "--gather needs a fused layer that reads the input, and --fuse off leaves "
                 "none");
}

TEST_F(Stage04, OtherStagesSayWhereItsOptionsAre) {
  for (const std::string stage :
       {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory"}) {
    for (const std::string option : {"stream-batches", "gather", "fuse", "capture"}) {
      expect_failure(
          stage + " train --" + option + " on", 2,
          "--" + option + " is offered by stage04_minibatch and stage05_mpi, not by " + stage);
    }
    expect_failure(stage + " train --persistent on", 2,
                   "--persistent is offered by ladder persistent, not by " + stage);
    if (stage == "stage01_serial") continue;  // has workers, too
    for (const std::string option : {"workers", "average", "average-every"}) {
      expect_failure(
          stage + " train --" + option + " 2", 2,
          "--" + option +
              " is offered by stage01_serial, stage04_minibatch and stage05_mpi, not by " + stage);
    }
  }
}

TEST_F(Stage04, EvaluatesWithoutTheOptionsOfATraining) {
  for (const std::string option : {"gather loads", "capture off", "stream-batches"}) {
    const std::string name = option.substr(0, option.find(' '));
    const Outcome outcome = run(program + "evaluate --load digits.h5 --test-limit 20 --" + option);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err,
              "stage04_minibatch: note: --" + name + " has no effect here: it is for train.\n");
    EXPECT_EQ(run_well(program + "evaluate --help").find("--" + name), std::string::npos);
  }
}

TEST_F(Stage04, RefusesWorkersThatHaveNothingToDo) {
  expect_failure(program + "train --workers 101", 2,
                 "--workers 101 is more than a batch has samples: --batch-size is 100");
  expect_failure(program + "train --workers 0", 2,
                 "--workers: '0' is not a whole number from 1...");
  expect_failure(program + "train --workers 2 --average median", 2,
                 "--average: 'median' is not one of gradients, weights");
  run_well(program + training + "--workers 2 --average weights --save 4.h5");
  expect_failure(program + "train --resume 4.h5 --workers 3", 1,
                 "--workers 3 contradicts the checkpoint 4.h5, which has 2; leave the option out, "
                 "or start a new training from these parameters with --load");
}

TEST_F(Stage04, HelpFitsOnATerminal) {
  for (const std::string& line : lines_of(run_well(program + "train --help"))) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

// ------------------------------------------------------------------------------------ what is NaN

TEST_F(Stage04, StopsWhenTheLossIsNoNumberAndSavesNothing) {
  const std::string diverging =
      program +
      "train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --epochs 3 "
      "--learning-rate 1e30 --save model.h5 --save-every 1 ";
  for (const std::string options :
       {"", "--capture off", "--stream-batches", "--fuse off", "--workers 3",
        "--workers 3 --average weights --average-every 2"}) {
    expect_failure(diverging + options, 1,
                   "the loss became NaN in epoch 1, step 2, and training stopped; a learning rate "
                   "smaller than 1e+30 may help...");
    EXPECT_FALSE(fs::exists(path("model.h5"))) << options;
  }
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
    if (!is_emulated()) GTEST_SKIP() << "only an emulated GPU can be made smaller";
    // What the backend takes first, whatever the network: its workspace.
    set_memory(1000);
    const Outcome outcome = run(program + training);
    EXPECT_EQ(outcome.exit_code, 1);
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
    "train --train-limit 4000 --test-limit 20 --batch-size 500 --epochs 1 ";

TEST_F(Stage04Memory, ADataSetThatDoesNotFitIsStreamed) {
  set_memory(of_backend_ + 30e6);
  const std::string resident = run_well(program + large_training + "--hidden 8 --save resident.h5");
  EXPECT_EQ(resident.find("streamed"), std::string::npos) << resident;
  set_memory(of_backend_ + 9e6);
  const std::string streamed = run_well(program + large_training + "--hidden 8 --save streamed.h5");
  const std::string note = between(streamed, " are needed to keep the data, ", " are streamed\n");
  EXPECT_TRUE(note.ends_with(" MB are free: batches")) << note;
  // 12.6 MB of data, and four batches: one for the step, two on their way, one for evaluation.
  EXPECT_NE(streamed.find("note   17.6 MB are needed to keep"), std::string::npos) << streamed;
  run_well("compare_checkpoints resident.h5 streamed.h5 --tolerance 1e-5");
}

TEST_F(Stage04Memory, ANetworkThatDoesNotFitIsRefused) {
  const auto refusal = [&](double bytes, const std::string& options) {
    set_memory(bytes);
    const Outcome outcome = run(program + large_training + options);
    EXPECT_EQ(outcome.exit_code, 1) << options;
    EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find("(STAGEWISE_CPU_DEVICE_MEMORY)"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(" are free; a smaller network or --batch-size "), std::string::npos)
        << outcome.err;
    return outcome.err;
  };
  refusal(of_backend_ / 2, "--hidden 8");
  refusal(of_backend_ + 1e6, "--hidden 8");     // batches
  refusal(of_backend_ + 6e6, "--hidden 2000");  // parameters
  // Every worker has lanes of its own, each with workspaces: there, one option more would help.
  const std::string sentence = refusal(2.5 * of_backend_, "--hidden 8 --workers 4");
  EXPECT_TRUE(sentence.ends_with(", and so do fewer --workers.\n")) << sentence;
}

}  // namespace
}  // namespace stagewise
