// The program grade: the comparison of report 000.

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/stage05.hpp"

namespace stagewise {
namespace {

const std::string grade = "grade ";

// "=" for the space, lest a folder of that name is made.
const std::string sample =
    " --dataset=digits --train-limit 300 --validation 50 --batch-size 80 --hidden 8 ";

class Grading : public Stage05 {
 protected:
  Grading() { said_by_ = "grade: "; }

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

TEST_F(Grading, FindsTheParallelTrainingRight) {
  train_sequentially("--save sequential.h5");
  for (int n = 1; n <= 3; ++n) {
    for (const std::string strategy : {"data", "tensor"}) {
      const std::string command = ranks(n, grade) + "--mode 3" + sample + "--strategy " + strategy;
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

TEST_F(Grading, FindsHybridTrainingsRight) {
  const std::string output =
      run_well(ranks(4, grade) + "--mode 3" + sample + "--strategy hybrid --tensor-ranks 2");
  expect_table(output, 4);
  EXPECT_EQ(count(output, "\nverdict     every error is at most 1.0e-07\n"), 1) << output;
}

TEST_F(Grading, FindsTheFirstTwoModesRight) {
  for (const std::string mode : {"1", "2"}) {
    const std::string output = run_well(ranks(2, grade) + "--epochs 2 --mode " + mode + sample);
    expect_table(output, 2);
    EXPECT_NE(output.find(", 2 epochs of 250 samples,\nbatches of 80, learning rate " +
                          std::string(mode == "1" ? "0.001" : "0.01") + ", l2 1e-04\n"),
              std::string::npos)
        << output;
    EXPECT_EQ(count(output, "\nverdict     every error is at most 1.0e-07\n"), 1) << output;
  }
}

TEST_F(Grading, FindsAnotherTrainingWrong) {
  train_sequentially("--seed 2 --save other.h5");
  const Outcome outcome = run(ranks(2, grade) + "--mode 3 --sequential other.h5" + sample);
  EXPECT_EQ(outcome.exit_code, 1);
  expect_table(outcome.out, 2);
  EXPECT_EQ(count(outcome.out, "\nverdict     NOT every error is at most 1.0e-07\n"), 1)
      << outcome.out;
  EXPECT_EQ(count(outcome.err, said_by_), 0) << outcome.err;

  expect_job_fails(ranks(2, grade) + "--mode 3 --sequential none.h5" + sample, 1,
                   "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(Grading, FindsTheProductsRight) {
  surroundings_.variables["STAGEWISE_CPU_WORKERS"] = std::nullopt;
  surroundings_.longest_run = 300;
  const std::string output = run_well(ranks(1, grade) + "--mode 4");
  EXPECT_EQ(count(output, "\nverdict     both differences are at most 1.0e-07\n"), 1) << output;
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Grading, HelpFitsOnATerminalAndNamesEveryOption) {
  const std::string help = run_well(grade + "--help");
  EXPECT_NE(help.find("\nUsage: " + grade), std::string::npos) << help;
  std::set<std::string> options;
  for (const std::string& line : lines_of(help)) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
    if (line.starts_with("  --")) options.insert(line.substr(4, line.find(' ', 4) - 4));
  }
  EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
  EXPECT_FALSE(help.ends_with("\n\n")) << help;
  EXPECT_EQ(help.find("report 0"), std::string::npos) << help;
  EXPECT_EQ(options,
            std::set<std::string>({"mode", "dataset", "data-dir", "train-limit", "validation",
                                   "hidden", "batch-size", "epochs", "strategy", "tensor-ranks",
                                   "transport", "sequential", "version"}))
      << help;
}

TEST_F(Grading, RefusesWhatItCannotGrade) {
  expect_job_fails(ranks(2, grade), 2,
                   "say what to grade: --mode 1, 2, 3 (training) or 4 (matrix products)");
  expect_job_fails(ranks(2, grade) + "--mode 5", 2,
                   "--mode: '5' is not a whole number from 1 to 4");
  expect_job_fails(
      ranks(2, grade) + "--mode 3 --batch-size 500" + sample.substr(0, sample.find("--batch-size")),
      2, "--batch-size 500 is larger than the training set of 250 samples");
  expect_job_fails(ranks(2, grade) + "--mode 3 --strategy hybrid" + sample, 2,
                   "--strategy hybrid needs --tensor-ranks: how many ranks divide a network");
  expect_job_fails(ranks(3, grade) + "--mode 3 --strategy hybrid --tensor-ranks 2" + sample, 2,
                   "--tensor-ranks 2 does not divide the number of processes, 3");
  expect_job_fails(ranks(3, grade) + "--mode 3 --strategy tensor --hidden 2" +
                       sample.substr(0, sample.find("--hidden")),
                   2, "--strategy tensor cannot split 2 hidden units among 3 processes");
  for (const std::string stage : {"stage01_serial", "stage05_mpi"}) {
    expect_failure(stage + " grade --mode 3", 2,
                   "grade is offered by the program grade, not by " + stage);
  }
}

}  // namespace
}  // namespace stagewise
