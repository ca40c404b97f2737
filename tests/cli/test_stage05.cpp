// Stage 05's program, started by mpirun: what it learns in several processes, and what it writes.

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

// --------------------------------------------------------------------------------------- training

TEST_F(Stage05, LearnsWhatStage01Learns) {
  const std::string average = "--average weights --average-every 2 ";
  expect_training(ranks(3), "--stream-batches --overlap off", "--workers 3");
  expect_training(ranks(3), average + "--data-from root", average + "--workers 3");
  expect_training(ranks(3), "--strategy tensor");
  expect_training(ranks(4), "--strategy hybrid --data-from root");
  // The ranks start with weights of their own.
  expect_training(ranks(3), average + "--epochs 0", average + "--workers 3 --epochs 0");
}

TEST_F(Stage05, LearnsWithoutMpirunWhatOneRankLearns) {
  const std::string output = run_well("stage05_mpi" + smooth_training + "--save alone.h5");
  expect_contains(output, std::string("\nranks  1 process on 1 host, with ") +
                              (is_emulated() ? "an emulated GPU" : "a GPU") + " of its own; strategy data, ");
  run_well(ranks(1) + smooth_training + "--save rank.h5");
  expect_same_bytes("alone.h5", "rank.h5");
  expect_contains(run_well("stage05_mpi info"), "\nlibrary    Open MPI ");
}

/// Two numbers have one sum, however they travel. To the last bit, but for the transport peer: its
/// kernels update with a fused multiply-add, which the compiler uses in other updates only where
/// the processor has one.
TEST_F(Stage05, LearnsTheSameByAnyTransport) {
  if (!is_emulated()) GTEST_SKIP() << "MPI may not know CUDA, or there may be too few GPUs";
  run_table("transports");
}

// -------------------------------------------------------------------------------- what is written

TEST_F(Stage05, OnlyRank0Prints) { run_table("only_rank_0_prints"); }

TEST_F(Stage05, WritesWhatStage01Writes) {
  const std::string options = smooth_training + "--validation 13 --epochs 3 --log-every 1 ";
  const json serial = report_of("stage01_serial" + options + "--workers 2 --save-best 1.h5");
  const json parallel = report_of(ranks(2) + options + "--save-best 5.h5 --csv log.csv");
  expect_same("1.h5", "5.h5", "1e-10");
  EXPECT_EQ(parallel.at("stage"), "stage05_mpi");
  EXPECT_EQ(parallel.at("ranks"), 2);
  EXPECT_EQ(parallel.at("best_epoch"), serial.at("best_epoch"));
  EXPECT_EQ(lines_of(text("log.csv")).size(), 7U);
  const auto expect_near = [&](const std::string& list, std::size_t size, const Sayings& keys) {
    ASSERT_EQ(parallel.at(list).size(), size);
    for (std::size_t i = 0; i < size; ++i) {
      for (const auto& [loss, accuracy] : keys) {
        for (const std::string& key : {loss, accuracy}) {
          EXPECT_NEAR(parallel.at(list).at(i).at(key).get<double>(), serial.at(list).at(i).at(key).get<double>(),
                      1e-10);
        }
      }
    }
  };
  expect_near("steps", 6, {{"loss", "accuracy"}});
  expect_near("epochs", 3, {{"train_loss", "train_accuracy"}, {"validation_loss", "validation_accuracy"}});
}

TEST_F(Stage05, CollectsTheAnswersOfAllRanks) {
  // Also where there are fewer samples than ranks.
  for (const auto& [limit, from] : Sayings{{"77", ""}, {"77", " --data-from root"}, {"2", ""}}) {
    const std::string evaluate =
        " evaluate --load double.h5 --batch-size 10 --confusion --mistakes 5 --test-limit " + limit;
    const json serial = report_of("stage01_serial" + evaluate);
    const json parallel = report_of(ranks(3) + evaluate + from);
    EXPECT_EQ(parallel.at("test_accuracy"), serial.at("test_accuracy"));
    EXPECT_NEAR(parallel.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-12);
    EXPECT_EQ(parallel.at("confusion"), serial.at("confusion"));
    ASSERT_EQ(parallel.at("mistakes").size(), serial.at("mistakes").size());
    for (std::size_t i = 0; i < serial.at("mistakes").size(); ++i) {
      EXPECT_EQ(parallel.at("mistakes").at(i).at("sample"), serial.at("mistakes").at(i).at("sample"));
    }
  }
  expect_answers("stage05_mpi");
  expect_contains(run_well(ranks(1) + " evaluate --load digits.h5 --batch-size 1 --latency"), "\ncaptured ");
}

// ------------------------------------------------------------------------ checkpoints, resumption

/// As if it had never stopped, where the ranks' parameters differ after the 6 steps of 2 epochs,
/// too; what stage 04 began and the other way round; and with another number of ranks. With the
/// strategy of the beginning, which Strategy.IsTensorWhereItCertainlySumsFewerNumbers looks at;
/// alone, with what one process has no use for; and from the mean of others' weights. Without a
/// shuffle and with a mean due after every second epoch, a new training from the mean does the
/// same.
TEST_F(Stage05, ContinuesTrainings) { run_table("resumed_by_ranks"); }

}  // namespace
}  // namespace stagewise
