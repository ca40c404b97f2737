// The same command gives the same bytes, also if it is killed on the way and resumed.

#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class Reproducible : public CommandLine {
 protected:
  /// Starts a command and kills it after a random part of `longest`, unless it ends before. The
  /// time counts from when `file` is there, if one is given.
  /// @return whether it was killed.
  bool run_and_kill(const std::string& command, Seconds longest, const std::string& file = "") {
    Process process(resolve(command), surroundings_);
    const auto start = Clock::now();
    while (!file.empty() && !fs::exists(path(file)) && Clock::now() - start < Seconds(60)) {
      std::this_thread::sleep_for(Seconds(0.0005));
    }
    std::this_thread::sleep_for(random_fraction() * longest);
    process.kill();
    return process.wait().signal == SIGKILL;
  }

  double random_fraction() { return std::uniform_real_distribution(0.0, 1.0)(random_); }

  Seconds time_of(const std::string& command) {
    const auto start = Clock::now();
    run_well(command);
    return Clock::now() - start;
  }

 private:
  std::mt19937 random_{1};
};

TEST_F(Reproducible, TheSameCommandGivesTheSameBytes) {
  for (const std::string options :
       {"", " --precision double", " --shuffle off", " --validation 20", " --gemm blas",
        " --activation sigmoid --loss squared-error --l2 0.01", " --workers 3",
        " --workers 3 --average weights --average-every 2"}) {
    run_well(short_training + options + " --save a.h5");
    run_well(short_training + options + " --save b.h5");
    EXPECT_EQ(read_file(path("a.h5")), read_file(path("b.h5"))) << options;
  }
}

TEST_F(Reproducible, TheSeedMatters) {
  run_well(short_training + " --save a.h5");
  run_well(short_training + " --seed 2 --save b.h5");
  EXPECT_EQ(run("compare_checkpoints a.h5 b.h5 --tolerance 1e-3").exit_code, 1);
}

TEST_F(Reproducible, ContinuesWhereAShorterTrainingStopped) {
  run_well(short_training + " --epochs 5 --save whole.h5");
  run_well(short_training + " --epochs 2 --save part.h5");
  const std::string output =
      run_well("stage01_serial train --resume part.h5 --epochs 5 --save rest.h5 --test-limit 20");
  EXPECT_NE(output.find("\nresume part.h5, after epoch 2\nepoch 3/5 "), std::string::npos)
      << output;
  EXPECT_EQ(read_file(path("rest.h5")), read_file(path("whole.h5")));

  // Nothing left to do, and nothing done.
  const std::string note =
      "\nresume whole.h5, after epoch 5\n"
      "note   nothing is left to train of 5 epochs in all; a larger --epochs continues\ntest ";
  for (const std::string epochs : {"", " --epochs 5"}) {
    const std::string again =
        run_well("stage01_serial train --resume whole.h5 --save same.h5" + epochs);
    EXPECT_NE(again.find(note), std::string::npos) << again;
    EXPECT_EQ(read_file(path("same.h5")), read_file(path("whole.h5")));
  }
}

TEST_F(Reproducible, ContinuesToTheTotalOfTheCheckpoint) {
  run_well(short_training + " --epochs 7 --save whole.h5");
  run_well(short_training + " --epochs 3 --save part.h5");
  Checkpoint part = load_checkpoint(path("part.h5"));
  part.settings["epochs"] = "7";  // as if the training had been killed
  save_checkpoint(path("part.h5"), part);
  run_well("stage01_serial train --resume part.h5 --save part.h5");
  EXPECT_EQ(read_file(path("part.h5")), read_file(path("whole.h5")));
}

TEST_F(Reproducible, ContinuesWithTheOptionsRepeated) {
  const std::string command = short_training + " --seed 3 --l2 0.001 --learning-rate 0.05";
  run_well(command + " --epochs 4 --save whole.h5");
  run_well(command + " --epochs 1 --save part.h5");
  run_well(command + " --epochs 4 --resume part.h5 --save part.h5");
  EXPECT_EQ(read_file(path("part.h5")), read_file(path("whole.h5")));
}

/// A checkpoint of before there were other optimizers, and one whose state is gone.
TEST_F(Reproducible, ContinuesWithTheOptimizerOfTheCheckpoint) {
  run_well(short_training + " --epochs 2 --save sgd.h5");
  Checkpoint old = load_checkpoint(path("sgd.h5"));
  for (const char* const name : {"optimizer", "schedule", "warmup"}) old.settings.erase(name);
  save_checkpoint(path("old.h5"), old);
  for (const std::string name : {"sgd", "old"}) {
    const std::string resume = "stage01_serial train --epochs 3 --resume " + name + ".h5 ";
    run_well(resume + "--optimizer sgd --save " + name + "3.h5");
    expect_failure(resume + "--optimizer adam", 1,
                   "--optimizer adam contradicts the checkpoint " + name +
                       ".h5, which has sgd; leave the option out, or start a new training from "
                       "these parameters with --load");
  }
  EXPECT_EQ(read_file(path("old3.h5")), read_file(path("sgd3.h5")));

  run_well(short_training + " --optimizer momentum --epochs 2 --save momentum.h5");
  Checkpoint without = load_checkpoint(path("momentum.h5"));
  EXPECT_EQ(without.optimizer.size(), 4U);
  without.optimizer.erase(without.optimizer.begin());
  save_checkpoint(path("without.h5"), without);
  expect_failure("stage01_serial train --epochs 3 --resume without.h5", 1,
                 "the checkpoint without.h5 holds no 'velocity/fc1/bias' of shape [8], which its "
                 "optimizer has to continue from");
}

struct Setting {
  const char* name;
  const char* options;
};

class Killed : public Reproducible, public testing::WithParamInterface<Setting> {};

TEST_P(Killed, TrainingContinuesExactly) {
  const std::string options = GetParam().options;
  const std::string training =
      "stage01_serial train --train-limit 300 --test-limit 20 --hidden 64 --batch-size 7 "
      "--epochs 8 --save-every 1 " +
      options;
  const Seconds whole_time = time_of(training + " --save whole.h5");
  const Bytes whole = read_file(path("whole.h5"));

  int kills = 0;
  int resumptions = 0;
  for (int repetition = 0; repetition < 4; ++repetition) {
    fs::remove(path("part.h5"));
    const auto next = [&] {
      const bool resumes = fs::exists(path("part.h5"));
      if (resumes) ++resumptions;
      return resumes ? "stage01_serial train --test-limit 20 --epochs 8 --save-every 1 "
                       "--save part.h5 --resume part.h5"
                     : training + " --save part.h5";
    };
    // Every second time, the first kill leaves a checkpoint behind, however slow the machine is.
    const bool is_late = repetition % 2 == 1;
    if (is_late && run_and_kill(next(), whole_time / 8, "part.h5")) ++kills;
    for (int i = 0; i < 2 && run_and_kill(next(), whole_time); ++i) ++kills;
    run_well(next());
    EXPECT_EQ(read_file(path("part.h5")), whole) << "repetition " << repetition;
  }
  EXPECT_GT(kills, 0);
  EXPECT_GT(resumptions, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Options, Killed,
    testing::Values(Setting{"shuffled", "--shuffle on"}, Setting{"in_order", "--shuffle off"},
                    Setting{"with_validation", "--validation 50"},
                    Setting{"with_workers", "--workers 3"},
                    Setting{"averaging_weights", "--workers 2 --average weights --average-every 4"},
                    Setting{"in_double", "--precision double --l2 0.001"},
                    Setting{"with_momentum", "--optimizer momentum --learning-rate 0.01"},
                    Setting{"with_adam",
                            "--optimizer adam --learning-rate 0.001 --schedule cosine --warmup 60 "
                            "--workers 2 --average weights --average-every 4"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Reproducible, AKillWhileSavingLeavesTheCheckpointBefore) {
  // Little to compute and much to write.
  const std::string training =
      "stage01_serial train --train-limit 1 --test-limit 1 --batch-size 1 --hidden 1000 "
      "--save model.h5 ";
  run_well(training + "--epochs 1");
  // An empty file is also made before training starts, to see whether it can be.
  const auto is_writing = [&] {
    std::error_code is_absent;
    const std::uintmax_t size = fs::file_size(partial_file_in(path("")), is_absent);
    return !is_absent && size > 0;
  };
  int interrupted = 0;  // how often a file was half written, or written but not yet renamed
  for (int repetition = 0; repetition < 12; ++repetition) {
    Process process(resolve(training + "--epochs 100000 --save-every 1"), surroundings_);
    const auto start = Clock::now();
    while (!is_writing() && Clock::now() - start < Seconds(30)) {
    }
    ASSERT_LT(Clock::now() - start, Seconds(30)) << "nothing is written beside the checkpoint";
    std::this_thread::sleep_for(random_fraction() * Seconds(0.004));
    process.kill();
    ASSERT_EQ(process.wait().signal, SIGKILL);
    const fs::path partial = partial_file_in(path(""));
    if (!partial.empty()) ++interrupted;
    fs::remove(partial);
    const Outcome outcome = run("stage01_serial evaluate --load model.h5 --test-limit 1");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_GT(interrupted, 0) << "no kill fell into the time of saving";
}

TEST_F(Reproducible, TwoTrainingsMaySaveToOneFile) {
  const std::string options = " --epochs 30 --save-every 1 --save ";
  for (const std::string seed : {"1", "2"}) {
    run_well(short_training + " --seed " + seed + options + seed + ".h5");
  }
  Process first(resolve(short_training + " --seed 1" + options + "both.h5"), surroundings_);
  Process second(resolve(short_training + " --seed 2" + options + "both.h5"), surroundings_);
  for (Process* const process : {&first, &second}) {
    const Outcome outcome = process->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  const Bytes both = read_file(path("both.h5"));
  EXPECT_TRUE(both == read_file(path("1.h5")) || both == read_file(path("2.h5")));
  EXPECT_EQ(partial_file_in(path("")), "");
}

}  // namespace
}  // namespace stagewise
