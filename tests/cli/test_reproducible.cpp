// The same command gives the same bytes, also if it is killed on the way and resumed.

#include <chrono>
#include <random>
#include <thread>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

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
    std::this_thread::sleep_for(std::uniform_real_distribution(0.0, 1.0)(random_) * longest);
    process.kill();
    return process.wait().signal == SIGKILL;
  }

 private:
  std::mt19937 random_{1};
};

const std::string resume = "stage01_serial train --test-limit 20 --resume ";

/// Also where a training continues, and where nothing is left to do; and the seed matters.
TEST_F(Reproducible, TheSameCommandGivesTheSameBytes) {
  run_table("same_bytes");
  Checkpoint part = load_checkpoint(path("part.h5"));
  part.settings["epochs"] = "5";  // as if the training had been killed
  save_checkpoint(path("part.h5"), part);
  run_well(resume + "part.h5 --save part.h5");
  expect_same_bytes("part.h5", "whole.h5");
}

/// A checkpoint of before there were other optimizers, and one whose state is gone.
TEST_F(Reproducible, ContinuesWithTheOptimizerOfTheCheckpoint) {
  make_input("digits.h5");
  Checkpoint old = load_checkpoint(path("digits.h5"));
  for (const char* const name : {"optimizer", "schedule", "warmup"}) old.settings.erase(name);
  save_checkpoint(path("old.h5"), old);
  run_well(resume + "digits.h5 --epochs 3 --save new3.h5");
  run_well(resume + "old.h5 --epochs 3 --save old3.h5");
  expect_same_bytes("old3.h5", "new3.h5");

  run_well(short_training + " --optimizer momentum --epochs 2 --save momentum.h5");
  Checkpoint without = load_checkpoint(path("momentum.h5"));
  EXPECT_EQ(without.optimizer.size(), 4U);
  without.optimizer.erase(without.optimizer.begin());
  save_checkpoint(path("without.h5"), without);
  expect_failure(resume + "without.h5 --epochs 3", 1,
                 "the checkpoint without.h5 holds no 'velocity/fc1/bias' of shape [8], which its "
                 "optimizer has to continue from");
}

TEST_F(Reproducible, AKilledTrainingContinuesExactly) {
  for (const std::string options :
       {"--validation 50",
        "--optimizer adam --learning-rate 0.001 --schedule cosine --warmup 60 --precision double "
        "--workers 2 --average weights --average-every 4"}) {
    const std::string training =
        "stage01_serial train --train-limit 300 --test-limit 20 --hidden 64 --batch-size 7 "
        "--epochs 8 --save-every 1 " +
        options;
    const auto start = Clock::now();
    run_well(training + " --save whole.h5");
    const Seconds whole_time = Clock::now() - start;
    int kills = 0;
    int resumptions = 0;
    for (int repetition = 0; repetition < 4; ++repetition) {
      fs::remove(path("part.h5"));
      const auto next = [&] {
        const bool resumes = fs::exists(path("part.h5"));
        if (resumes) ++resumptions;
        return (resumes ? resume + "part.h5 --epochs 8 --save-every 1" : training) + " --save part.h5";
      };
      // Every second time, the first kill leaves a checkpoint behind, however slow the machine is.
      const bool is_late = repetition % 2 == 1;
      if (is_late && run_and_kill(next(), whole_time / 8, "part.h5")) ++kills;
      for (int i = 0; i < 2 && run_and_kill(next(), whole_time); ++i) ++kills;
      run_well(next());
      expect_same_bytes("part.h5", "whole.h5");
    }
    EXPECT_GT(kills, 0);
    EXPECT_GT(resumptions, 0);
  }
}

}  // namespace
}  // namespace stagewise
