// Stage 05's program, started by mpirun: what it learns in one, two and three processes, what it
// says when one of them fails, and that the others end with it.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

const std::string program = "stage05_mpi ";

// 53 samples in batches of 20: two of them and a short one.
const std::string small_training =
    "train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 ";
const std::string training = small_training + "--precision double --activation sigmoid ";

/// How long a job may live on after one of its processes has failed.
constexpr std::chrono::seconds soon(10);

/// The program as so many processes.
std::string ranks(int count) {
  return "mpirun -n " + std::to_string(count) + " " + program;
}

/// The same command on two ranks, of which the first runs in one folder and the second in another.
std::string in_folders(const fs::path& first, const fs::path& second, const std::string& command) {
  return "mpirun -wdir " + first.string() + " -n 1 " + program + command + " : -wdir " +
         second.string() + " -n 1 " + program + command;
}

/// The same command on two ranks with a variable of the environment that differs.
std::string with_variable(const std::string& name, const std::string& first,
                          const std::string& second, const std::string& command) {
  return "mpirun -n 1 env " + name + "=" + first + " " + program + command + " : -n 1 env " + name +
         "=" + second + " " + program + command;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
  return found;
}

class Stage05 : public CommandLine {
 protected:
  void SetUp() override {
#ifdef STAGEWISE_STAGE05
    surroundings_.longest_run = 60;
    surroundings_.variables["STAGEWISE_CPU_WORKERS"] = "1";  // the ranks have the cores
    need_device("stage04_minibatch");                        // which takes less time to say so
#else
    GTEST_SKIP() << "this build has no stage 05 (libopenmpi-dev)";
#endif
  }

  /// Whether the kernels run on the CPU, where MPI can read the device's memory.
  bool is_emulated() {
    return run_well("stage04_minibatch info").find("CUDA on the CPU") != std::string::npos;
  }

  /// Expects that a job ends soon with this exit code, and that one rank says this sentence. Around
  /// it, mpirun may say what it likes.
  /// @param sentence without the program's name and the period; what follows a "..." at its end is
  ///        left open.
  /// @return what the program has said.
  std::string expect_job_fails(const std::string& command, int exit_code,
                               const std::string& sentence) {
    const auto start = Clock::now();
    const Outcome outcome = run(command);
    EXPECT_LT(Clock::now() - start, soon) << command;
    EXPECT_EQ(outcome.signal, 0) << command;
    EXPECT_EQ(outcome.exit_code, exit_code) << command;
    std::vector<std::string> said;
    for (const std::string& line : lines_of(outcome.err)) {
      if (line.starts_with("stage05_mpi: ")) said.push_back(line);
    }
    EXPECT_EQ(said.size(), 1U) << command << '\n' << outcome.err;
    if (said.empty()) return "";
    if (sentence.ends_with("...")) {
      const std::string begin = "stage05_mpi: " + sentence.substr(0, sentence.size() - 3);
      EXPECT_EQ(said.front().substr(0, begin.size()), begin) << command;
      EXPECT_TRUE(said.front().ends_with(".")) << said.front();
    } else {
      EXPECT_EQ(said.front(), "stage05_mpi: " + sentence + ".") << command;
    }
    return said.front();
  }

  void expect_same(const std::string& a, const std::string& b, const std::string& tolerance) {
    run_well("compare_checkpoints " + a + " " + b + " --tolerance " + tolerance);
  }

  void expect_same_bytes(const std::string& a, const std::string& b) {
    ASSERT_FALSE(read_file(path(a)).empty()) << a;
    EXPECT_TRUE(read_file(path(a)) == read_file(path(b))) << a << " and " << b << " differ";
  }
};

// --------------------------------------------------------------------------------------- training

TEST_F(Stage05, AveragesGradientsAsTheStagesBefore) {
  for (int n = 1; n <= 3; ++n) {
    const std::string workers = n == 1 ? "" : "--workers " + std::to_string(n);
    run_well("stage01_serial " + training + workers + " --save 1.h5");
    run_well("stage04_minibatch " + training + workers + " --save 4.h5");
    const std::string of_several = n == 1 ? "" : "--data-from all --no-overlap ";
    for (const std::string& options : {std::string(), of_several + "--stream-batches"}) {
      run_well(ranks(n) + training + options + " --save 5.h5");
      expect_same("1.h5", "5.h5", "1e-10");
      expect_same("4.h5", "5.h5", "1e-10");
    }
  }
}

TEST_F(Stage05, AveragesWeightsAsTheStagesBefore) {
  for (int n = 2; n <= 3; ++n) {
    const std::string average = "--average weights --average-every 2 ";
    const std::string workers = average + "--workers " + std::to_string(n);
    run_well("stage01_serial " + training + workers + " --save 1.h5");
    run_well("stage04_minibatch " + training + workers + " --save 4.h5");
    run_well(ranks(n) + training + average + "--save 5.h5");
    expect_same("1.h5", "5.h5", "1e-10");
    expect_same("4.h5", "5.h5", "1e-10");
    // The ranks' own parameters are in the checkpoint, too.
    const Checkpoint serial = load_checkpoint(path("1.h5"));
    const Checkpoint parallel = load_checkpoint(path("5.h5"));
    ASSERT_EQ(parallel.workers.size(), static_cast<std::size_t>(n));
    ASSERT_EQ(serial.workers.size(), parallel.workers.size());
    for (std::size_t w = 0; w < serial.workers.size(); ++w) {
      for (std::size_t k = 0; k < serial.workers[w].size(); ++k) {
        const std::vector<double>& expected = serial.workers[w][k].values;
        const std::vector<double>& found = parallel.workers[w][k].values;
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-10);
      }
    }
  }
}

TEST_F(Stage05, SplitsHiddenLayersAndLearnsTheSame) {
  run_well("stage01_serial " + training + "--save 1.h5");
  for (int n = 1; n <= 3; ++n) {
    const std::string of_several = n == 1 ? "" : "--data-from all ";
    for (const std::string& options : {std::string(), of_several + "--stream-batches"}) {
      run_well(ranks(n) + training + "--strategy tensor " + options + " --save 5.h5");
      expect_same("1.h5", "5.h5", "1e-10");
    }
  }
  const std::string deep =
      "train --train-limit 53 --test-limit 20 --batch-size 20 --precision double --hidden ";
  for (const std::string hidden : {"8,2", "8,5,4", "8,5,4,3"}) {
    run_well("stage01_serial " + deep + hidden + " --save 1.h5");
    run_well(ranks(3) + deep + hidden + " --strategy tensor --save 5.h5");
    expect_same("1.h5", "5.h5", "1e-10");
  }
}

/// Two numbers have one sum. Of three, the order decides, and that depends on where messages end.
TEST_F(Stage05, LearnsTheSameHoweverSumsTravel) {
  std::vector<std::string> ways = {"--no-overlap", "--transport host"};
  if (is_emulated()) ways.emplace_back("--transport cuda-aware");  // else MPI may not know CUDA
  const auto expect_alike = [&](int n, const std::string& options, const std::string& tolerance) {
    run_well(ranks(n) + training + options + "--save plain.h5");
    for (const std::string& way : ways) {
      const std::string output = run_well(ranks(n) + training + options + way + " --save other.h5");
      EXPECT_EQ(count(output, ", transport cuda-aware\n"), way == "--transport cuda-aware" ? 1 : 0)
          << output;
      expect_same("plain.h5", "other.h5", tolerance);
    }
  };
  expect_alike(2, "", "0");
  expect_alike(3, "", "1e-12");
  std::erase(ways, "--no-overlap");  // weights are exchanged when all are computed
  expect_alike(3, "--average weights --average-every 2 ", "1e-12");
}

TEST_F(Stage05, LearnsTheSameInFloat) {
  const std::string in_float = small_training + "--activation sigmoid ";
  run_well("stage01_serial " + in_float + "--save 1.h5");
  for (const std::string options : {"", "--strategy tensor"}) {
    run_well(ranks(3) + in_float + options + " --save 5.h5");
    expect_same("1.h5", "5.h5", "1e-4");
  }
}

TEST_F(Stage05, ABatchMayHaveFewerSamplesThanThereAreRanks) {
  // 41 samples: the third batch has one.
  const std::string short_batch =
      "train --train-limit 41 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
      "--activation sigmoid ";
  for (const std::string options : {"", "--average weights --average-every 2"}) {
    run_well("stage01_serial " + short_batch + options + " --workers 3 --save 1.h5");
    run_well(ranks(3) + short_batch + options + " --save 5.h5");
    expect_same("1.h5", "5.h5", "1e-10");
  }
}

TEST_F(Stage05, LearnsWithoutMpirunWhatOneRankLearns) {
  const std::string output = run_well(program + training + "--save alone.h5");
  const std::string gpu = is_emulated() ? "an emulated GPU" : "a GPU";
  EXPECT_NE(
      output.find("\nranks  1 process on 1 host, with " + gpu + " of its own; strategy data, "),
      std::string::npos)
      << output;
  run_well(ranks(1) + training + "--save rank.h5");
  expect_same_bytes("alone.h5", "rank.h5");
}

TEST_F(Stage05, TheSameCommandGivesTheSameBytes) {
  for (const std::string& command : {training + "--average weights --average-every 2 ",
                                     small_training + "--strategy tensor ", training}) {
    run_well(ranks(3) + command + "--save a.h5");
    run_well(ranks(3) + command + "--save b.h5");
    expect_same_bytes("a.h5", "b.h5");
  }
  run_well(ranks(3) + training + "--data-from all --save b.h5");
  expect_same("a.h5", "b.h5", "0");
}

// ---------------------------------------------------------------------------------- what is
// written

TEST_F(Stage05, OnlyRank0Prints) {
  const std::string output = run_well(ranks(3) + training + "--epochs 2 --save 5.h5");
  EXPECT_EQ(count(output, "stage05_mpi on "), 1) << output;
  EXPECT_EQ(count(output, "\nranks  3 processes on 1 host, "), 1) << output;
  EXPECT_EQ(count(output, "; strategy data, transport host\n"), 1) << output;
  EXPECT_EQ(count(output, "\nworkers  3, averaging gradients in every step\n"), 1) << output;
  EXPECT_EQ(count(output, "\nepoch 1/2  "), 1) << output;
  EXPECT_EQ(count(output, "\nepoch 2/2  "), 1) << output;
  EXPECT_EQ(count(output, "\ntest   loss "), 1) << output;
  EXPECT_EQ(count(output, "\nsaved  5.h5\n"), 1) << output;
  if (is_emulated()) {
    EXPECT_EQ(count(output, "\nranks  3 processes on 1 host, sharing 1 emulated GPU; strategy"), 1)
        << output;
  }
  EXPECT_EQ(count(run_well("mpirun -n 3 stage05_mpi --help"), "\nUsage: stage05_mpi"), 1);
}

TEST_F(Stage05, WritesOneReportOfAllRanks) {
  const auto losses = [](const json& report) {
    std::vector<double> all = {report.at("test_loss").get<double>(),
                               report.at("test_accuracy").get<double>()};
    for (const json& epoch : report.at("epochs")) {
      all.push_back(epoch.at("train_loss"));
      all.push_back(epoch.at("train_accuracy"));
      all.push_back(epoch.at("validation_loss"));
      all.push_back(epoch.at("validation_accuracy"));
    }
    return all;
  };
  const std::string options = training + "--epochs 2 --validation 10";
  const std::vector<double> serial = losses(report_of("stage01_serial " + options));
  for (const std::string strategy : {"data", "tensor"}) {
    fs::remove(path("report.json"));
    const json report = report_of(ranks(3) + options + " --strategy " + strategy);
    EXPECT_EQ(report.at("stage"), "stage05_mpi");
    const std::vector<double> parallel = losses(report);
    ASSERT_EQ(parallel.size(), 10U);
    ASSERT_EQ(serial.size(), parallel.size());
    for (std::size_t i = 0; i < serial.size(); ++i) EXPECT_NEAR(parallel[i], serial[i], 1e-12) << i;
  }
}

TEST_F(Stage05, TimesTheStepsOfRank0) {
  const auto rows_of = [&](const std::string& options) {
    std::map<std::string, int> calls;
    const std::string command = ranks(2) + training + "--epochs 2 --timings " + options;
    const std::string output = run_well(command + " --report report.json");
    const json report = json::parse(text("report.json"));
    for (const json& row : report.at("timings")) {
      EXPECT_FALSE(calls.contains(row.at("operation"))) << "two rows: " << row;
      calls[row.at("operation").get<std::string>()] = row.at("calls");
    }
    EXPECT_EQ(count(output, "\nline "), 1) << output;
    const std::vector<std::string> lines = lines_of(output.substr(output.find("\nline ") + 1));
    double share = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      if (!lines[i].ends_with(" %")) continue;
      EXPECT_LE(lines[i].size(), 80U) << lines[i];
      EXPECT_EQ(lines[i].size(), lines[1].size()) << "columns are not aligned:\n" << output;
      share += std::stod(lines[i].substr(lines[i].size() - 8));
    }
    EXPECT_NEAR(share, 100, 0.5) << output;
    return calls;
  };
  using Rows = std::map<std::string, int>;
  const std::string chunk = "take_chunk  order -> samples of the next steps";
  const std::string linear = "linear  features, order@0, fc1/weight";
  const std::string sum = "all_reduce  ";
  const std::string gradients = "d fc2/bias@0, d fc2/weight@0, d fc1/bias@0, d fc1/weight@0";
  const Rows data = rows_of("");
  EXPECT_EQ(data.size(), 8U);
  EXPECT_EQ(data.at(chunk), 6);  // 6 steps
  EXPECT_EQ(data.at(linear + ", fc1/bias -> fc1/output@0"), 6);
  EXPECT_EQ(data.at(sum + gradients + " -> " + gradients), 6);
  const Rows tensor = rows_of("--strategy tensor");
  EXPECT_EQ(tensor.size(), 10U);
  EXPECT_EQ(tensor.at(chunk), 6);
  EXPECT_EQ(tensor.at(linear + "@0, fc1/bias@0 -> fc1/output@0"), 6);
  EXPECT_EQ(tensor.at(sum + "fc2/product@0 -> fc2/product@0"), 6);
  EXPECT_EQ(tensor.at("add_bias  fc2/product@0, fc2/bias@0 -> fc2/output@0"), 6);
}

TEST_F(Stage05, HelpFitsOnATerminal) {
  for (const std::string command : {"", "train ", "evaluate ", "info ", "grade "}) {
    const std::string help = run_well(program + command + "--help");
    EXPECT_NE(help.find("\nUsage: " + program + command), std::string::npos) << help;
    for (const std::string& line : lines_of(help)) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
    }
    EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
    EXPECT_FALSE(help.ends_with("\n\n")) << help;
    EXPECT_EQ(help.find("report 0"), std::string::npos) << help;
  }
  const std::string train = run_well(program + "train --help");
  for (const std::string option : {"strategy", "transport", "no-overlap", "data-from", "workers",
                                   "average", "average-every", "stream-batches", "capture"}) {
    EXPECT_NE(train.find("\n  --" + option), std::string::npos) << option << train;
  }
  EXPECT_NE(run_well(program + "info").find("\nlibrary    Open MPI "), std::string::npos);
}

// ------------------------------------------------------------------------------------- evaluation

TEST_F(Stage05, EvaluatesInSeveralRanksAsStage01) {
  run_well(ranks(3) + training + "--save 5.h5");
  for (const std::string options : {"5.h5 --test-limit 77 --batch-size 10", "5.h5 --test-limit 2",
                                    "digits.h5 --test-limit 77 --data-from all"}) {  // of stage 01
    std::string serial_options = options;
    if (options.ends_with(" --data-from all")) serial_options.resize(options.find(" --data-from"));
    const json serial = report_of("stage01_serial evaluate --load " + serial_options);
    const json parallel = report_of(ranks(3) + "evaluate --load " + options);
    EXPECT_EQ(parallel.at("test_accuracy"), serial.at("test_accuracy")) << options;
    EXPECT_NEAR(parallel.at("test_loss").get<double>(), serial.at("test_loss").get<double>(),
                options.starts_with("digits") ? 1e-5 : 1e-12)
        << options;
  }
}

TEST_F(Stage05, MeasuresTheLatencyOfOneProcessOnly) {
  const std::string evaluate = "evaluate --load digits.h5 --test-limit 20 --batch-size 1 --latency";
  expect_job_fails(ranks(2) + evaluate, 2,
                   "--latency measures one process, and mpirun has started 2");
  const std::string output = run_well(ranks(1) + evaluate);
  EXPECT_NE(output.find("\nlatency of a batch of 1, host to host\n"), std::string::npos) << output;
  EXPECT_NE(output.find("\ncaptured "), std::string::npos) << output;
}

// ------------------------------------------------------------------------ checkpoints, resumption

TEST_F(Stage05, SavesTheInitialParametersWithoutTraining) {
  const std::string untrained = training + "--epochs 0 ";
  run_well("stage01_serial " + untrained + "--save 1.h5");
  for (const std::string options : {"", "--strategy tensor"}) {
    run_well(ranks(3) + untrained + options + " --save 5.h5");
    expect_same("1.h5", "5.h5", "0");
  }
  // Workers that average weights begin with different ones.
  run_well("stage04_minibatch " + untrained + "--workers 3 --average weights --save 4.h5");
  run_well(ranks(3) + untrained + "--average weights --save 5.h5");
  expect_same("4.h5", "5.h5", "1e-15");
  const Checkpoint minibatch = load_checkpoint(path("4.h5"));
  const Checkpoint parallel = load_checkpoint(path("5.h5"));
  ASSERT_EQ(parallel.workers.size(), 3U);
  for (std::size_t w = 0; w < 3; ++w) {
    for (std::size_t k = 0; k < minibatch.workers[w].size(); ++k) {
      EXPECT_EQ(parallel.workers[w][k].values, minibatch.workers[w][k].values) << w << ' ' << k;
    }
  }
  EXPECT_NE(parallel.workers[0][1].values, parallel.workers[1][1].values);  // weights
}

TEST_F(Stage05, ContinuesAsIfItHadNeverStopped) {
  // With --average-every 7, the ranks' parameters differ after the 6 steps of the first 2 epochs.
  for (const std::string options :
       {"", "--average weights --average-every 7", "--strategy tensor"}) {
    run_well(ranks(3) + training + options + " --epochs 4 --save whole.h5");
    run_well(ranks(3) + training + options + " --epochs 2 --save part.h5");
    run_well(ranks(3) + "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5");
    expect_same_bytes("whole.h5", "rest.h5");
    EXPECT_NE(read_file(path("part.h5")), read_file(path("whole.h5"))) << options;
  }
}

/// What one process has no use for, it keeps for several.
TEST_F(Stage05, ContinuesAloneAndAmongSeveralAgain) {
  run_well(ranks(2) + training + "--epochs 1 --average weights --average-every 3 --save two.h5");
  run_well(program + "train --resume two.h5 --epochs 2 --test-limit 20 --save one.h5");
  const std::string output =
      run_well(ranks(2) + "train --resume one.h5 --epochs 3 --test-limit 20");
  EXPECT_NE(output.find("\nworkers  2, averaging weights every 3 steps\n"), std::string::npos)
      << output;
}

TEST_F(Stage05, ContinuesWithAnotherNumberOfRanks) {
  for (const std::string options : {"", "--strategy tensor"}) {
    run_well(ranks(3) + training + options + " --epochs 4 --save whole.h5");
    run_well(ranks(3) + training + options + " --epochs 2 --save part.h5");
    for (const int n : options.empty() ? std::vector{2} : std::vector{1, 2}) {
      const std::string output =
          run_well(ranks(n) + "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5");
      EXPECT_EQ(output.find("continue from their mean"), std::string::npos) << output;
      expect_same("whole.h5", "rest.h5", "1e-10");
    }
  }
}

TEST_F(Stage05, OtherRanksContinueFromTheMeanOfWeights) {
  // Without a shuffle and with a mean due after every second epoch, a new training from the mean
  // does the same.
  const std::string options = "--average weights --average-every 2 --shuffle off ";
  run_well(ranks(3) + training + options + "--epochs 2 --save part.h5");
  const std::string output =
      run_well(ranks(2) + "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5");
  EXPECT_EQ(count(output,
                  "\nnote   the checkpoint holds the weights of 3 workers: 2 continue from their "
                  "mean\n"),
            1)
      << output;
  EXPECT_NE(output.find("\nworkers  2, averaging weights every 2 steps\n"), std::string::npos)
      << output;
  run_well(
      "stage04_minibatch train --load part.h5 --train-limit 53 --test-limit 20 "
      "--batch-size 20 --workers 2 --epochs 2 --save mean.h5 " +
      options);
  expect_same("mean.h5", "rest.h5", "1e-10");
}

TEST_F(Stage05, ContinuesWhatStage04BeganAndTheOtherWayRound) {
  for (const std::string average : {"", "--average weights --average-every 7 "}) {
    const std::string workers = average + "--workers 3 ";
    const std::string resume = "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5";
    run_well("stage04_minibatch " + training + workers + "--epochs 4 --save whole.h5");
    run_well("stage04_minibatch " + training + workers + "--epochs 2 --save part.h5");
    run_well(ranks(3) + resume);
    expect_same("whole.h5", "rest.h5", "1e-10");
    run_well(ranks(3) + training + average + "--epochs 2 --save part.h5");
    run_well("stage04_minibatch " + resume);
    expect_same("whole.h5", "rest.h5", "1e-10");
  }
}

// ------------------------------------------------------------------------------------ wrong usage

TEST_F(Stage05, RefusesWhatItDoesNotKnow) {
  expect_job_fails(ranks(3) + "train --transport rdma", 2,
                   "--transport: 'rdma' is not one of auto, host, cuda-aware, nccl");
  if (is_emulated()) {
    expect_job_fails(ranks(2) + "train --transport nccl", 2,
                     "--transport nccl cannot work here: NCCL needs GPUs, and kernels run on the "
                     "CPU here; --transport host works everywhere");
  }
  expect_job_fails(ranks(3) + "train --passes 3", 2,
                   "option '--passes' is unknown; stage05_mpi train --help lists what there is");
  expect_failure(program, 2,
                 "say what to do: train, evaluate, grade or info (see stage05_mpi --help)");
}

TEST_F(Stage05, RefusesANumberOfProcessesThatDoesNotFit) {
  expect_job_fails(ranks(3) + training + "--workers 4", 2,
                   "--workers 4 contradicts the number of processes, each of which is a worker: "
                   "mpirun has started 3");
  expect_job_fails(ranks(3) + "train --batch-size 2", 2,
                   "3 processes are more than a batch has samples: --batch-size is 2");
  run_well(ranks(3) + training + "--epochs 0 --workers 3");
}

TEST_F(Stage05, RefusesRanksThatWereToldDifferentThings) {
  expect_job_fails("mpirun -n 1 stage05_mpi train --epochs 3 : -n 1 stage05_mpi train", 2,
                   "rank 1 was started with 'train', but rank 0 with 'train --epochs 3'; every "
                   "rank needs the same command line");
}

TEST_F(Stage05, RefusesNetworksThatItCannotSplit) {
  const std::string small = "train --train-limit 53 --test-limit 20 --batch-size 20 ";
  const std::string split = small + "--strategy tensor ";
  const std::string why =
      "--strategy tensor splits the hidden layers of --model mlp, and there is none; --strategy "
      "data trains every network";
  expect_job_fails(ranks(2) + split + "--hidden none", 2, why);
  expect_job_fails(ranks(2) + split + "--model cnn", 2, why);
  expect_job_fails(ranks(3) + split + "--hidden 8,4,2", 2,
                   "--strategy tensor cannot split 2 hidden units among 3 processes");
  expect_job_fails(ranks(3) + split + "--hidden 2", 2,
                   "--strategy tensor cannot split 2 hidden units among 3 processes");
  expect_job_fails(ranks(2) + split + "--average weights", 2,
                   "--average is for --strategy data: with tensor, ...");
  expect_job_fails(ranks(2) + split + "--average gradients", 2,
                   "--average is for --strategy data: with tensor, ...");
  expect_job_fails(ranks(2) + split + "--no-overlap", 2,
                   "--no-overlap is for --strategy data: with tensor, ...");
  expect_job_fails(ranks(2) + split + "--gather loads", 2,
                   "--gather is for --strategy data: with tensor, ...");
  expect_job_fails(ranks(2) + "train --average weights --no-overlap", 2,
                   "--no-overlap is for --average gradients: weights are exchanged when a step is "
                   "done");
}

// --------------------------------------------------------------------------- failures of all ranks

TEST_F(Stage05, SaysOnceThatTheDataSetIsMissing) {
  for (const std::string from : {"root", "all"}) {
    expect_job_fails(ranks(3) + "train --dataset mnist --data-dir none --data-from " + from, 1,
                     "the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
  }
}

TEST_F(Stage05, SaysOnceThatAFileCannotBeWrittenOrRead) {
  surroundings_.heeds_permissions = true;
  expect_job_fails(ranks(3) + training + "--save none/model.h5", 1,
                   "the checkpoint none/model.h5 cannot be written: there is no folder ...");
  expect_job_fails(ranks(2) + training + "--save locked/model.h5", 1,
                   "the checkpoint locked/model.h5 cannot be written: ...");
  expect_job_fails(ranks(2) + training + "--report folder", 1,
                   "the report folder cannot be written: it is a folder");
  expect_job_fails(ranks(3) + "evaluate --load none.h5", 1,
                   "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(Stage05, SaysOnWhichRankTheLossBecameNaN) {
  const std::string diverging =
      small_training + "--epochs 3 --learning-rate 1e30 --save model.h5 --save-every 1 ";
  for (const std::string options : {"", "--average weights --average-every 2"}) {
    const std::string sentence = expect_job_fails(ranks(3) + diverging + options, 1,
                                                  "the loss became NaN in epoch 1, step 2 on rank "
                                                  "...");
    EXPECT_NE(sentence.find(", and training stopped; a learning rate smaller than 1e+30 may help"),
              std::string::npos)
        << sentence;
    EXPECT_EQ(sentence.find("; if you changed a kernel: ") != std::string::npos, is_emulated())
        << sentence;
    EXPECT_FALSE(fs::exists(path("model.h5"))) << options;
  }
  expect_job_fails(ranks(3) + diverging + "--strategy tensor", 1,
                   "the loss became NaN in epoch 1, step 2...");
  EXPECT_FALSE(fs::exists(path("model.h5")));
}

// --------------------------------------------------------------------------- failures of one rank

TEST_F(Stage05, ARankMayLackTheDataSetIfRank0SendsIt) {
  run_well("make_dataset --train 60 --test 20 --output data/mnist");
  const std::string command = training + "--dataset mnist --save model.h5 ";
  const std::string here = path("data").string();
  run_well(with_variable("STAGEWISE_DATA_DIR", here, "none", command));
  EXPECT_TRUE(fs::exists(path("model.h5")));
  expect_job_fails(
      with_variable("STAGEWISE_DATA_DIR", here, "none", command + "--data-from all"), 1,
      "rank 1: the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
  expect_job_fails(with_variable("STAGEWISE_DATA_DIR", "none", here, command), 1,
                   "the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
}

TEST_F(Stage05, RefusesFilesThatAreNotTheSameOnAllRanks) {
  make_input("nan.h5");
  fs::create_directory(path("good"));
  fs::create_directory(path("bad"));
  fs::copy_file(path("digits.h5"), path("good") / "start.h5");
  fs::copy_file(path("nan.h5"), path("bad") / "start.h5");
  const std::string other =
      "the checkpoint start.h5 that rank 1 has read is another than that of rank 0";
  for (const std::string& command :
       {small_training + "--load start.h5", small_training + "--load start.h5 --strategy tensor",
        std::string("evaluate --load start.h5 --test-limit 20")}) {
    expect_job_fails(in_folders(path("good"), path("bad"), command), 1, other);
  }
  fs::remove(path("bad") / "start.h5");
  expect_job_fails(in_folders(path("good"), path("bad"), small_training + "--load start.h5"), 1,
                   "rank 1: the checkpoint start.h5 cannot be read: there is no such file");

  run_well("make_dataset --train 60 --test 20 --output good/mnist");
  run_well("make_dataset --train 60 --test 20 --seed 2 --output bad/mnist");
  expect_job_fails(in_folders(path("good"), path("bad"),
                              small_training + "--dataset mnist --data-dir . --data-from all"),
                   1, "the data set mnist that rank 1 has read is another than that of rank 0");
}

/// Each rank follows gradients of its own, and rank 1 goes astray first.
TEST_F(Stage05, EndsWhenOneRankDiverges) {
  const std::string diverging =
      "train --train-limit 300 --test-limit 20 --hidden none --loss squared-error --batch-size 6 "
      "--epochs 2 --learning-rate 0.2 --seed 3 --average weights --average-every 1000 ";
  const Outcome serial = run("stage01_serial " + diverging + "--workers 3");
  ASSERT_EQ(serial.exit_code, 1) << "choose numbers that diverge: " << serial.out;
  const std::string place = between(serial.err, " in epoch ", ", and");
  const std::string sentence = expect_job_fails(ranks(3) + diverging, 1, "the loss became ...");
  EXPECT_EQ(between(sentence, " in epoch ", ", and"), place + " on rank 1");
}

TEST_F(Stage05, EndsWhenOneRanksGpuIsTooSmall) {
  if (!is_emulated()) GTEST_SKIP() << "only an emulated GPU can be made smaller";
  for (const std::string options : {"", "--strategy tensor"}) {
    const std::string sentence = expect_job_fails(
        with_variable("STAGEWISE_CPU_DEVICE_MEMORY", "1000000000", "20000", training + options), 1,
        "rank 1: the emulated GPU (STAGEWISE_CPU_DEVICE_MEMORY) has too little "
        "memory: ...");
    EXPECT_NE(sentence.find(" more are needed, 20.0 KB of 20.0 KB are free; a smaller "),
              std::string::npos)
        << sentence;
  }
}

/// A training that is under way, and somebody kills one of its processes.
class Stage05Killed : public Stage05 {
 protected:
  /// The process that is this rank of a job.
  static pid_t find_rank(const std::vector<pid_t>& processes, int rank) {
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const pid_t process : processes) {
      std::ifstream environment("/proc/" + std::to_string(process) + "/environ");
      for (std::string variable; std::getline(environment, variable, '\0');) {
        if (variable == wanted) return process;
      }
    }
    return -1;
  }

  static bool any_runs(const std::vector<pid_t>& processes) {
    return std::any_of(processes.begin(), processes.end(), is_running);
  }

  /// Waits until `condition` holds, but no longer than `longest`.
  template <typename Condition>
  static bool wait_until(const Condition& condition, std::chrono::seconds longest) {
    const auto start = Clock::now();
    while (!condition()) {
      if (Clock::now() - start > longest) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  void expect_end_of_all(const std::string& command, int rank_to_kill) {
    Process job(resolve(command), surroundings_);
    ASSERT_TRUE(wait_until([&] { return job.output().find("\nepoch 2/") != std::string::npos; },
                           std::chrono::seconds(30)))
        << job.output();
    const std::vector<pid_t> processes = descendants_of(job.id());
    ASSERT_GE(processes.size(), 3U);
    const pid_t victim = find_rank(processes, rank_to_kill);
    ASSERT_GT(victim, 0);
    const auto start = Clock::now();
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    const Outcome outcome = job.wait();
    EXPECT_LT(Clock::now() - start, soon);
    EXPECT_EQ(outcome.signal, 0) << outcome.err;
    EXPECT_GT(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(wait_until([&] { return !any_runs(processes); }, std::chrono::seconds(5)))
        << "a process of the job has outlived it";
  }
};

TEST_F(Stage05Killed, EndsWithAnyOfItsRanks) {
  const std::string endless = ranks(3) + small_training + "--epochs 1000000 ";
  expect_end_of_all(endless, 0);
  expect_end_of_all(endless, 2);
  expect_end_of_all(endless + "--strategy tensor", 1);
}

TEST_F(Stage05Killed, ContinuesFromTheLastEpochItSaved) {
  const std::string command = ranks(3) + training + "--average weights --average-every 7 ";
  expect_end_of_all(command + "--epochs 1000000 --save part.h5 --save-every 1", 1);
  const std::int64_t done = load_checkpoint(path("part.h5")).epoch;
  ASSERT_GE(done, 1);
  const std::string epochs = "--epochs " + std::to_string(done + 2);
  run_well(command + epochs + " --save whole.h5");
  run_well(ranks(3) + "train --resume part.h5 --test-limit 20 --save rest.h5 " + epochs);
  expect_same("whole.h5", "rest.h5", "0");
}

// ---------------------------------------------------------------------------------------- grading

// "=" for the space, lest a folder of that name is made.
const std::string sample =
    " --dataset=digits --train-limit 300 --validation 50 --batch-size 80 --hidden 8 ";

class Stage05Grading : public Stage05 {
 protected:
  /// Mode 3 as stage 01 trains it.
  void train_sequentially(const std::string& options) {
    run_well("stage01_serial train" + sample +
             "--test-limit 20 --activation sigmoid --precision double --l2 0.0001 "
             "--learning-rate 0.025 --epochs 1 --shuffle off " +
             options);
  }

  /// The table's and the verdict's lines.
  static void expect_table(const std::string& output, int processes) {
    const std::vector<std::string> lines = lines_of(output);
    const auto head = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("procs ");
    });
    ASSERT_LT(std::distance(head, lines.end()), std::ssize(lines)) << output;
    ASSERT_GE(std::distance(head, lines.end()), 2) << output;
    std::istringstream names(*(head - 1));
    for (const std::string expected : {"W[0]", "b[0]", "W[1]", "b[1]"}) {
      std::string name;
      names >> name;
      EXPECT_EQ(name, expected) << output;
    }
    EXPECT_LE(head->size(), 80U);
    EXPECT_EQ((head - 1)->size(), head->size());
    EXPECT_EQ((head + 1)->size(), head->size());
    std::istringstream values(*(head + 1));
    int found = 0;
    values >> found;
    EXPECT_EQ(found, processes) << output;
    int errors = 0;
    for (double error = 0; values >> error; ++errors) EXPECT_GE(error, 0);
    EXPECT_EQ(errors, 8) << output;
    EXPECT_EQ(count(output, "\naccuracy    "), 1) << output;
  }
};

TEST_F(Stage05Grading, FindsTheParallelTrainingRight) {
  train_sequentially("--save sequential.h5");
  for (int n = 1; n <= 3; ++n) {
    for (const std::string strategy : {"data", "tensor"}) {
      const std::string command = ranks(n) + "grade --mode 3" + sample + "--strategy " + strategy;
      const std::string output = run_well(command);
      expect_table(output, n);
      EXPECT_EQ(count(output, "\nverdict     every error is at most 1.0e-07\n"), 1) << output;
      if (n != 3) continue;
      const std::string other = run_well(command + " --sequential sequential.h5");
      expect_table(other, n);
      EXPECT_EQ(count(other, "\nsequential  read from sequential.h5\n"), 1) << other;
      EXPECT_EQ(between(other, "procs ", "\n\n"), between(output, "procs ", "\n\n"));
      EXPECT_EQ(count(other, "\nverdict     every error is at most 1.0e-07\n"), 1) << other;
    }
  }
}

TEST_F(Stage05Grading, FindsTheFirstTwoModesRight) {
  for (const std::string mode : {"1", "2"}) {
    const std::string output = run_well(ranks(2) + "grade --epochs 2 --mode " + mode + sample);
    expect_table(output, 2);
    EXPECT_NE(output.find(", 2 epochs of 250 samples,\nbatches of 80, learning rate " +
                          std::string(mode == "1" ? "0.001" : "0.01") + ", l2 1e-04\n"),
              std::string::npos)
        << output;
    EXPECT_EQ(count(output, "\nverdict     every error is at most 1.0e-07\n"), 1) << output;
  }
}

TEST_F(Stage05Grading, FindsAnotherTrainingWrong) {
  train_sequentially("--seed 2 --save other.h5");
  const Outcome outcome = run(ranks(2) + "grade --mode 3 --sequential other.h5" + sample);
  EXPECT_EQ(outcome.exit_code, 1);
  expect_table(outcome.out, 2);
  EXPECT_EQ(count(outcome.out, "\nverdict     NOT every error is at most 1.0e-07\n"), 1)
      << outcome.out;
  EXPECT_EQ(count(outcome.err, "stage05_mpi: "), 0) << outcome.err;

  expect_job_fails(ranks(2) + "grade --mode 3 --sequential none.h5" + sample, 1,
                   "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(Stage05Grading, FindsTheProductsRight) {
  surroundings_.variables["STAGEWISE_CPU_WORKERS"] = std::nullopt;
  const std::string output = run_well(ranks(1) + "grade --mode 4");
  EXPECT_EQ(count(output, "\nverdict     both differences are at most 1.0e-07\n"), 1) << output;
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Stage05Grading, RefusesWhatItCannotGrade) {
  expect_job_fails(ranks(2) + "grade", 2,
                   "grade needs --mode: 1, 2, 3 (training) or 4 (matrix products)");
  expect_job_fails(ranks(2) + "grade --mode 5", 2, "--mode: '5' is not a whole number from 1 to 4");
  expect_job_fails(
      ranks(2) + "grade --mode 3 --batch-size 500" + sample.substr(0, sample.find("--batch-size")),
      2, "--batch-size 500 is larger than the training set of 250 samples");
  expect_job_fails(ranks(3) + "grade --mode 3 --strategy tensor --hidden 2" +
                       sample.substr(0, sample.find("--hidden")),
                   2, "--strategy tensor cannot split 2 hidden units among 3 processes");
  expect_failure("stage04_minibatch grade --mode 3", 2,
                 "grade is offered by stage05_mpi, not by stage04_minibatch");
}

TEST_F(Stage05, GoesOnWithTheDataThatAnotherStageHasBegunWith) {
  run_well("make_dataset --dataset step --train 50 --test 20 --output table");
  run_well(
      "stage01_serial train --dataset table/train.csv --format csv --label label --epochs 1 "
      "--hidden none --batch-size 10 --workers 2 --save part.h5");
  const auto fingerprint_in = [&](const std::string& name) {
    return load_checkpoint(path(name)).settings.at("data-values");
  };
  for (const std::string from : {"root", "all"}) {
    const std::string output =
        run_well(ranks(2) + "train --resume part.h5 --epochs 2 --save rest.h5 --data-from " + from);
    EXPECT_EQ(output.find("may be others"), std::string::npos) << output;
    EXPECT_EQ(fingerprint_in("rest.h5"), fingerprint_in("part.h5"));
  }
  run_well("make_dataset --dataset step --train 50 --test 20 --seed 3 --output table");
  for (const std::string from : {"root", "all"}) {
    const Outcome outcome = run(ranks(2) + "train --resume part.h5 --epochs 2 --data-from " + from);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(count(outcome.err,
                    "stage05_mpi: the checkpoint part.h5 was trained on other data than "
                    "table/train.csv: the samples have other values"),
              1)
        << outcome.err;
  }
}

TEST_F(Stage05, ReplacesNoFileThatAnyRankReads) {
  make_input("digits");
  const fs::path here = fs::canonical(path(""));
  fs::create_directories(path("first"));
  fs::copy(path("digits"), path("first/digits"));
  const Bytes before = read_file(path("digits/train-images-idx3-ubyte"));
  const std::string command =
      "train --hidden 4 --batch-size 20 --epochs 1 --format idx --dataset "
      "digits/train-images-idx3-ubyte --data-from all --save ";
  const std::string sentence = "--save names a file of --dataset, digits/train-images-idx3-ubyte";
  const auto expect_refused = [&](const std::string& line, const std::string& rank) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("stage05_mpi: " + rank + sentence + ".\n"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(read_file(path("digits/train-images-idx3-ubyte")), before);
  };
  expect_refused(ranks(2) + command + "digits/train-images-idx3-ubyte", "");
  expect_refused(in_folders(here / "first", here, command + "../digits/train-images-idx3-ubyte"),
                 "rank 1: ");
}

}  // namespace
}  // namespace stagewise
