// Stage 05's program, started by mpirun: what it learns in one, two and three processes, and what
// it writes.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/stage05.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

// --------------------------------------------------------------------------------------- training

TEST_F(Stage05, AveragesGradientsAsTheStagesBefore) {
  for (int n = 1; n <= 3; ++n) {
    const std::string workers = n == 1 ? "" : "--workers " + std::to_string(n);
    run_well("stage01_serial " + training + workers + " --save 1.h5");
    run_well("stage04_minibatch " + training + workers + " --save 4.h5");
    const std::string of_several = n == 1 ? "" : "--data-from root --overlap off ";
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
    const std::string of_several = n == 1 ? "" : "--data-from root ";
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

/// Two networks, each split between two ranks, share out the batch.
TEST_F(Stage05, LearnsTheSameWithSplitNetworksThatShareOutTheBatch) {
  const std::string hybrid = "--strategy hybrid ";
  run_well("stage01_serial " + training + "--save 1.h5");
  std::vector<std::string> ways = {"", "--data-from root ", "--overlap off ", "--stream-batches "};
  if (is_emulated()) ways.insert(ways.end(), {"--transport cuda-aware ", "--transport peer "});
  for (const std::string& way : ways) {
    const std::string output = run_well(ranks(4) + training + hybrid + way + "--save 5.h5");
    EXPECT_NE(output.find("; strategy hybrid with 2 ranks to a network, transport "),
              std::string::npos)
        << output;
    expect_same("1.h5", "5.h5", "1e-10");
  }
  for (const std::string tensor_ranks : {"1", "3"}) {  // as --strategy data, or tensor
    run_well(ranks(3) + training + hybrid + "--tensor-ranks " + tensor_ranks + " --save 5.h5");
    expect_same("1.h5", "5.h5", "1e-10");
  }
  // The last batch has one sample, for two networks.
  const std::string deep =
      "train --train-limit 41 --test-limit 20 --batch-size 20 --precision double --hidden 8,5,4 "
      "--optimizer momentum ";
  run_well("stage01_serial " + deep + "--save 1.h5 --report 1.json");
  run_well(ranks(4) + deep + hybrid + "--save 5.h5 --report 5.json");
  expect_same("1.h5", "5.h5", "1e-10");
  for (const std::string value : {"train_loss", "train_accuracy"}) {
    EXPECT_NEAR(json::parse(text("1.json")).at("epochs").back().at(value).get<double>(),
                json::parse(text("5.json")).at("epochs").back().at(value).get<double>(), 1e-10);
  }
}

/// Two numbers have one sum. Of three, the order decides, and that depends on where messages end.
TEST_F(Stage05, LearnsTheSameHoweverSumsTravel) {
  std::vector<std::string> ways = {"--overlap off", "--transport host"};
  if (is_emulated()) {  // else MPI may not know CUDA, or there may be too few GPUs
    ways.insert(ways.end(), {"--transport cuda-aware", "--transport peer"});
  }
  const auto expect_alike = [&](int n, const std::string& options, const std::string& tolerance) {
    run_well(ranks(n) + training + options + "--save plain.h5");
    for (const std::string& way : ways) {
      const std::string output = run_well(ranks(n) + training + options + way + " --save other.h5");
      if (way.starts_with("--transport ")) {
        EXPECT_EQ(count(output, ", " + way.substr(2) + "\n"), 1) << output;
      }
      expect_same("plain.h5", "other.h5", tolerance);
    }
  };
  expect_alike(2, "", "0");
  expect_alike(3, "", "1e-12");
  std::erase(ways, "--overlap off");  // weights are exchanged when all are computed
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

class Stage05Strategy : public Stage05 {
 protected:
  /// Which one a training takes without --strategy.
  std::string strategy_of(int n, const std::string& options) {
    return between(
        run_well(ranks(n) + "train --train-limit 40 --test-limit 20 --epochs 1 " + options),
        "; strategy ", ", transport ");
  }
};

/// Tensor where it certainly sums fewer numbers.
TEST_F(Stage05Strategy, FollowsFromTheNetworkAndTheBatch) {
  EXPECT_EQ(strategy_of(2, "--batch-size 8 --hidden 8"), "tensor");
  EXPECT_EQ(strategy_of(2, "--batch-size 9 --hidden 8"), "data");
  EXPECT_EQ(strategy_of(3, "--batch-size 8 --hidden 20,3,8"), "tensor") << "the second is whole";
  EXPECT_EQ(strategy_of(3, "--batch-size 8 --hidden 20,9,7"), "data") << "the third is narrow";
}

TEST_F(Stage05Strategy, IsDataWhereNothingElseIsPossible) {
  EXPECT_EQ(strategy_of(2, "--batch-size 8 --hidden none"), "data");
  EXPECT_EQ(strategy_of(1, "--batch-size 8 --hidden 8"), "data");
  EXPECT_EQ(strategy_of(2, "--batch-size 8 --hidden 8 --workers 2"), "data");
  for (const std::string of_data : {"--average weights", "--overlap off", "--gather loads"}) {
    EXPECT_EQ(strategy_of(2, "--batch-size 8 --hidden 8 " + of_data), "data");
  }
}

/// Training goes on as it began.
TEST_F(Stage05Strategy, IsThatOfTheBeginning) {
  run_well(ranks(2) +
           "train --train-limit 40 --test-limit 20 --hidden 8 --batch-size 8 --epochs 1 "
           "--strategy data --save part.h5");
  for (const std::string strategy : {"", " --strategy auto"}) {
    EXPECT_EQ(
        between(run_well(ranks(2) + "train --resume part.h5 --test-limit 20 --epochs 2" + strategy),
                "; strategy ", ", transport "),
        "data");
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
    EXPECT_EQ(report.at("ranks"), 3);
    EXPECT_EQ(report.contains("workers"), strategy == "data");
    const std::vector<double> parallel = losses(report);
    ASSERT_EQ(parallel.size(), 10U);
    ASSERT_EQ(serial.size(), parallel.size());
    for (std::size_t i = 0; i < serial.size(); ++i) EXPECT_NEAR(parallel[i], serial[i], 1e-12) << i;
  }
}

TEST_F(Stage05, TimesTheStepsOfRank0) {
  const auto rows_of = [&](const std::string& options) {
    std::map<std::string, int> calls;
    const std::string command = ranks(2) + training + "--epochs 2 --timings --transport host ";
    const std::string output = run_well(command + options + " --report report.json");
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
  const std::string gradients = "d fc2/bias@0, d fc1/bias@0, d fc2/weight@0, d fc1/weight@0";
  const Rows data = rows_of("");
  EXPECT_EQ(data.size(), 8U);
  EXPECT_EQ(data.at(chunk), 6);  // 6 steps
  EXPECT_EQ(data.at(linear + ", fc1/bias -> fc1/output@0"), 6);
  EXPECT_EQ(data.at(sum + gradients + " -> " + gradients), 6);
  const Rows tensor = rows_of("--strategy tensor");
  EXPECT_EQ(tensor.size(), 6U);
  EXPECT_EQ(tensor.at(chunk), 6);
  EXPECT_EQ(tensor.at(linear + "@0, fc1/bias@0 -> fc1/output@0"), 6);
  EXPECT_EQ(tensor.at(sum + "fc2/product@0 -> fc2/product@0"), 6);
  const auto rest = tensor.lower_bound("output_layer  fc1/output@0, fc2/weight@0, ");
  ASSERT_NE(rest, tensor.end());
  EXPECT_TRUE(rest->first.starts_with("output_layer  fc1/output@0")) << rest->first;
  EXPECT_EQ(rest->second, 6);
}

TEST_F(Stage05, HelpFitsOnATerminal) {
  for (const std::string command : {"", "train ", "evaluate ", "predict ", "info "}) {
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
  for (const std::string option :
       {"strategy", "tensor-ranks", "transport", "timeout", "overlap", "data-from", "workers",
        "average", "average-every", "stream-batches", "capture"}) {
    EXPECT_NE(train.find("\n  --" + option), std::string::npos) << option << train;
  }
  EXPECT_NE(run_well(program + "info").find("\nlibrary    Open MPI "), std::string::npos);
}

// ------------------------------------------------------------------------------------- evaluation

TEST_F(Stage05, EvaluatesInSeveralRanksAsStage01) {
  run_well(ranks(3) + training + "--save 5.h5");
  for (const std::string options : {"5.h5 --test-limit 77 --batch-size 10", "5.h5 --test-limit 2",
                                    "digits.h5 --test-limit 77 --data-from root"}) {  // of stage 01
    std::string serial_options = options;
    if (options.ends_with(" --data-from root")) serial_options.resize(options.find(" --data-from"));
    const json serial = report_of("stage01_serial evaluate --load " + serial_options);
    const json parallel = report_of(ranks(3) + "evaluate --load " + options);
    EXPECT_EQ(parallel.at("test_accuracy"), serial.at("test_accuracy")) << options;
    EXPECT_NEAR(parallel.at("test_loss").get<double>(), serial.at("test_loss").get<double>(),
                options.starts_with("digits") ? 1e-5 : 1e-12)
        << options;
  }
}

TEST_F(Stage05, CollectsTheAnswersOfAllRanks) {
  const std::string options = "evaluate --load double.h5 --test-limit 77 --confusion --mistakes 5";
  const json serial = report_of("stage01_serial " + options);
  for (const std::string from : {"", " --data-from root"}) {
    const json parallel = report_of(ranks(3) + options + from);
    EXPECT_EQ(parallel.at("confusion"), serial.at("confusion")) << from;
    ASSERT_EQ(parallel.at("mistakes").size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(parallel.at("mistakes").at(i).at("sample"),
                serial.at("mistakes").at(i).at("sample"));
    }
  }
  expect_job_fails(ranks(2) + "predict --load digits.h5", 2,
                   "predict runs in one process, and mpirun has started 2");
}

TEST_F(Stage05, LogsAndKeepsTheBestAsStage01) {
  const std::string options = training + "--validation 13 --epochs 3 --log-every 1 ";
  const json serial = report_of("stage01_serial " + options + "--workers 2 --save-best 1.h5");
  const json parallel = report_of(ranks(2) + options + "--save-best 5.h5 --csv log.csv");
  expect_same("1.h5", "5.h5", "1e-10");
  EXPECT_EQ(parallel.at("best_epoch"), serial.at("best_epoch"));
  ASSERT_EQ(parallel.at("steps").size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(parallel.at("steps").at(i).at("step"), serial.at("steps").at(i).at("step"));
    EXPECT_NEAR(parallel.at("steps").at(i).at("loss").get<double>(),
                serial.at("steps").at(i).at("loss").get<double>(), 1e-10);
  }
  EXPECT_EQ(lines_of(text("log.csv")).size(), 7U);
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
       {"", "--average weights --average-every 7", "--strategy tensor",
        "--optimizer adam --warmup 4", "--optimizer momentum --average weights --average-every 7",
        "--optimizer adam --strategy tensor"}) {
    run_well(ranks(3) + training + options + " --epochs 4 --save whole.h5");
    run_well(ranks(3) + training + options + " --epochs 2 --save part.h5");
    run_well(ranks(3) + "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5");
    expect_same_bytes("whole.h5", "rest.h5");
    EXPECT_NE(read_file(path("part.h5")), read_file(path("whole.h5"))) << options;
  }
}

TEST_F(Stage05, ContinuesSplitNetworksThatShareOutTheBatch) {
  const std::string hybrid = training + "--strategy hybrid --optimizer adam ";
  run_well(ranks(4) + hybrid + "--epochs 4 --save whole.h5");
  run_well(ranks(4) + hybrid + "--epochs 2 --save part.h5");
  run_well(ranks(4) + "train --resume part.h5 --epochs 4 --test-limit 20 --save rest.h5");
  expect_same_bytes("whole.h5", "rest.h5");
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
  for (const std::string options :
       {"", "--strategy tensor", "--optimizer momentum --strategy tensor"}) {
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

  run_well(ranks(3) + training + options + "--optimizer momentum --epochs 2 --save part.h5");
  EXPECT_NE(run_well(ranks(2) + "train --resume part.h5 --epochs 4 --test-limit 20")
                .find(": 2 continue from their mean, their optimizer anew\n"),
            std::string::npos);
}

TEST_F(Stage05, ContinuesWhatStage04BeganAndTheOtherWayRound) {
  for (const std::string average : {"", "--average weights --average-every 7 ",
                                    "--optimizer adam --average weights --average-every 7 "}) {
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

}  // namespace
}  // namespace stagewise
