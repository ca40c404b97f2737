// The program grade: the comparison of report 000.

#include <algorithm>
#include <sstream>

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

// "=" for the space, lest a folder of that name is made.
const std::string sample = " --dataset=digits --train-limit 300 --validation 50 --batch-size 80 --hidden 8 ";

class Grading : public Stage05 {
 protected:
  /// Mode 3 as stage 01 trains it.
  void train_sequentially(const std::string& options) {
    run_well(
        "stage01_serial train --dataset=digits --train-limit 300 --validation 50 --batch-size 80 "
        "--hidden 8 --test-limit 20 --activation sigmoid --precision double --l2 0.0001 "
        "--learning-rate 0.025 --epochs 1 --shuffle off " +
        options);
  }

  /// The table's and the verdict's lines.
  static void expect_table(const std::string& output, int processes) {
    expect_narrow(output);
    const std::vector<std::string> lines = lines_of(output);
    const auto head =
        std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("procs "); });
    ASSERT_LT(std::distance(head, lines.end()), std::ssize(lines)) << output;
    ASSERT_GE(std::distance(head, lines.end()), 2) << output;
    EXPECT_EQ(words_of(*(head - 1)), words_of("W[0] b[0] W[1] b[1]")) << output;
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

TEST_F(Grading, FindsTrainingsRight) {
  const auto expect_right = [&](int n, const std::string& options, const std::string& description) {
    const std::string output = run_well(ranks(n, "grade") + sample + options);
    expect_table(output, n);
    expect_contains(output, description);
    expect_contains(output, "\nverdict     every error is at most 1.0e-07\n");
  };
  expect_right(3, "--mode 1 --epochs 2 --strategy tensor", " learning rate 0.001, l2 1e-04\n");
  expect_right(2, "--mode 2 --epochs 2", ", 2 epochs of 250 samples,\nbatches of 80, learning rate");
  expect_right(1, "--mode 3", " 250 samples,");
  expect_right(4, "--mode 3 --strategy hybrid --tensor-ranks 2", " 250 samples,");
}

TEST_F(Grading, ComparesWithTheTrainingOfAFile) {
  train_sequentially("--save sequential.h5");
  const std::string command = ranks(2, "grade") + sample + "--mode 3 --sequential ";
  const std::string output = run_well(command + "sequential.h5");
  expect_table(output, 2);
  expect_contains(output, "\nsequential  read from sequential.h5\n");
  expect_contains(output, "\nverdict     every error is at most 1.0e-07\n");
  train_sequentially("--seed 2 --save other.h5");
  const Outcome outcome = run(command + "other.h5");
  EXPECT_EQ(outcome.exit_code, 1);
  expect_table(outcome.out, 2);
  expect_contains(outcome.out, "\nverdict     NOT every error is at most 1.0e-07\n");
  EXPECT_EQ(count(outcome.err, "grade: "), 0) << outcome.err;
  expect_failure(command + "none.h5", 1, "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(Grading, FindsTheProductsRight) {
  surroundings_.variables["STAGEWISE_CPU_WORKERS"] = std::nullopt;
  surroundings_.longest_run = 300;
  const std::string output = run_well(ranks(1, "grade") + " --mode 4");
  expect_contains(output, "\nverdict     both differences are at most 1.0e-07\n");
  expect_narrow(output);
}

/// And what the ladder all-reduce, below, cannot add up.
TEST_F(Grading, RefusesWhatItCannotGrade) { run_table("grade"); }

// ------------------------------------------------------------------------------ ladder all-reduce

class LadderOfSums : public Stage05 {
 protected:
  const std::string all_reduce = ranks(3, "ladder") + " all-reduce ";
};

TEST_F(LadderOfSums, VerifiesAllRungs) {
  const std::string output = run_well(all_reduce + "--bytes 40008 --precision double --repetitions 0");
  EXPECT_EQ(count(output, "\nranks  3 processes on 1 host, "), 1) << output;
  EXPECT_EQ(count(output, "DIFFERS"), 0) << output;
  for (const std::string rung : {"host", "ring", "one-shot", "two-shot"}) {
    expect_contains(output, "\n" + rung + " ");
  }
  expect_narrow(output);

  const json report = report_of(all_reduce + "--bytes 400");
  EXPECT_EQ(report.at("ladder"), "all-reduce");
  EXPECT_EQ(report.at("ranks"), 3);
  ASSERT_EQ(report.at("tables").size(), 1U);
  const json& table = report.at("tables").front();
  EXPECT_EQ(table.at("heading"), "400 B");
  int rows = 0;
  for (const json& row : table.at("rows")) {
    if (row.contains("skipped")) continue;  // for want of GPUs
    EXPECT_TRUE(row.at("verified").get<bool>()) << row;
    EXPECT_EQ(row.at("bytes"), 400) << row;
    EXPECT_GT(row.at("seconds"), 0) << row;
    EXPECT_TRUE(fs::exists(fs::path(STAGEWISE_REPOSITORY) / row.at("file"))) << row;
    ++rows;
  }
  EXPECT_EQ(rows, is_emulated() ? 4 : 2);
}

}  // namespace
}  // namespace stagewise
