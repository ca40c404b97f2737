// `evaluate` as it should go.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Evaluate : public CommandLine {};

TEST_F(Evaluate, AgreesWithTheTrainingThatSaved) {
  const std::string trained = run_well(short_training + " --save model.h5");
  const std::string evaluated = run_well("stage01_serial evaluate --load model.h5 --test-limit 20");
  const std::string last = "\n" + lines_of(evaluated).back() + "\n";
  EXPECT_TRUE(last.starts_with("\ntest   loss ")) << evaluated;
  EXPECT_NE(trained.find(last), std::string::npos) << trained << evaluated;
}

TEST_F(Evaluate, GivesTheSameForEveryBatchSize) {
  const json reference = report_of("stage01_serial evaluate --load double.h5 --test-limit 500");
  for (const std::string batch : {"1", "7", "499", "500", "501", "9223372036854775807"}) {
    const json report = report_of(
        "stage01_serial evaluate --load double.h5 --test-limit 500 --batch-size " + batch);
    EXPECT_EQ(report.at("test_accuracy"), reference.at("test_accuracy")) << batch;
    EXPECT_NEAR(report.at("test_loss"), reference.at("test_loss"), 1e-12) << batch;
  }
}

TEST_F(Evaluate, ReportsWhatItFound) {
  const json report = report_of("stage01_serial evaluate --load digits.h5 --test-limit 50");
  EXPECT_EQ(report.at("stage"), "stage01_serial");
  EXPECT_EQ(report.at("model"), "mlp 784-8-10, relu, cross-entropy");
  EXPECT_EQ(report.at("dataset"), "digits");
  EXPECT_EQ(report.at("precision"), "float");
  EXPECT_EQ(report.at("epochs"), json::array());
  EXPECT_EQ(report.at("timings"), json::array());
  EXPECT_GT(report.at("test_loss"), 0);
  EXPECT_GT(report.at("test_accuracy"), 0);
  EXPECT_LT(report.at("test_accuracy"), 1);
  EXPECT_FALSE(report.contains("latency"));
}

TEST_F(Evaluate, UsesAllOfASingleFile) {
  const std::string output = run_well(
      "stage01_serial evaluate --load digits.h5 --format idx --dataset "
      "digits/train-images-idx3-ubyte");
  EXPECT_NE(output.find(" of 50)\n"), std::string::npos) << output;
}

TEST_F(Evaluate, SaysWhatItDoesAsTrainingDoes) {
  const std::vector<std::string> lines =
      lines_of(run_well("stage01_serial evaluate --load digits.h5 --dataset digits"));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("stage01_serial on CPU (")) << lines[0];
  EXPECT_EQ(lines[1], "data   digits: 2,000 test images of 28x28x1, 10 classes");
  EXPECT_EQ(lines[2], "model  mlp 784-8-10, relu, cross-entropy, float, 6,370 parameters");
  EXPECT_EQ(lines[3], "load   digits.h5, after epoch 2");
  EXPECT_TRUE(lines[4].starts_with("test   loss ")) << lines[4];
}

const std::string note_of_checkpoint =
    "\nnote   the data set is that of the checkpoint; --dataset names another\n";

TEST_F(Evaluate, UsesTheDataOfTheCheckpoint) {
  std::string output = run_well("stage01_serial evaluate --load neuron.h5");
  EXPECT_NE(output.find("\ndata   step: 10,000 test samples of 1 feature, 2 classes\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find(note_of_checkpoint), std::string::npos) << output;

  run_well(
      "stage01_serial train --dataset gaussian --features 3 --classes 4 --samples 100 --epochs 1 "
      "--deviation 2 --save gaussian.h5");
  output = run_well("stage01_serial evaluate --load gaussian.h5");
  EXPECT_NE(output.find("\ndata   gaussian: 20 test samples of 3 features, 4 classes\n"),
            std::string::npos)
      << output;
  EXPECT_EQ(output.find("trained with"), std::string::npos) << output;

  run_well("make_dataset --dataset step --train 50 --test 20 --output table");
  run_well(
      "stage01_serial train --dataset table/train.csv --format csv --label label --epochs 1 "
      "--batch-size 10 --save table.h5");
  output = run_well("stage01_serial evaluate --load table.h5");
  EXPECT_NE(output.find("\ndata   table/train.csv: 50 samples of 1 feature, 2 classes\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("\nnote   the network was trained on a part of this file, which is used "
                        "whole here\n"),
            std::string::npos)
      << output;
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;

  fs::remove(path("table/train.csv"));
  expect_failure("stage01_serial evaluate --load table.h5", 1,
                 "cannot read table/train.csv: there is no such file; the checkpoint table.h5 "
                 "names this data set, --dataset another");
}

TEST_F(Evaluate, SaysIfTheNetworkWasTrainedOnOtherData) {
  std::string output = run_well(
      "stage01_serial evaluate --load digits.h5 --format idx --dataset "
      "digits/t10k-images-idx3-ubyte");
  EXPECT_NE(output.find("\ndata   digits/t10k-images-idx3-ubyte: 20 images of 28x28x1, "),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("\nnote   the network was trained on digits\n"), std::string::npos)
      << output;
  EXPECT_EQ(output.find(note_of_checkpoint), std::string::npos) << output;

  run_well("make_dataset --dataset step --train 50 --test 20 --output table");
  run_well(
      "stage01_serial train --dataset table/train.csv --format csv --label label --epochs 1 "
      "--batch-size 10 --save table.h5");
  output =
      run_well("stage01_serial evaluate --load table.h5 --format csv --dataset table/test.csv");
  EXPECT_NE(output.find("\nnote   the network was trained on table/train.csv (csv)\n"),
            std::string::npos)
      << output;

  run_well("stage01_serial train --dataset gaussian --deviation 2 --epochs 1 --save gaussian.h5");
  output = run_well("stage01_serial evaluate --load gaussian.h5 --deviation 0.5");
  EXPECT_NE(output.find("\nnote   the network was trained with --deviation 2\n"), std::string::npos)
      << output;
}

TEST_F(Evaluate, NeedsNoNetworkOnTheCommandLine) {
  run_well(
      "stage01_serial train --train-limit 20 --test-limit 10 --batch-size 20 --epochs 1 "
      "--hidden 5,4 --activation sigmoid --loss squared-error --precision double "
      "--save deep.h5");
  run_well("stage01_serial evaluate --load deep.h5");
  run_well("stage01_serial evaluate --load neuron.h5 --dataset step");
}

TEST_F(Evaluate, CountsWhatIsTakenForWhat) {
  const std::string command =
      "stage01_serial evaluate --load digits.h5 --test-limit 100 --confusion --csv matrix.csv";
  const json report = report_of(command);
  const json& counts = report.at("confusion").at("counts");
  ASSERT_EQ(counts.size(), 10U);
  int samples = 0;
  int correct = 0;
  for (std::size_t label = 0; label < 10; ++label) {
    int of_label = 0;
    for (std::size_t answer = 0; answer < 10; ++answer) {
      of_label += counts.at(label).at(answer).get<int>();
    }
    samples += of_label;
    const int own = counts.at(label).at(label).get<int>();
    correct += own;
    EXPECT_DOUBLE_EQ(report.at("confusion").at("recall").at(label).get<double>(),
                     static_cast<double>(own) / of_label);
  }
  EXPECT_EQ(samples, 100);
  EXPECT_DOUBLE_EQ(report.at("test_accuracy").get<double>(), correct / 100.0);
  EXPECT_FALSE(report.contains("class_names")) << "they are just numbers";
  EXPECT_FALSE(report.contains("mistakes"));

  const std::vector<std::string> rows = lines_of(text("matrix.csv"));
  ASSERT_EQ(rows.size(), 11U);
  EXPECT_EQ(rows[0], "label,0,1,2,3,4,5,6,7,8,9");
  EXPECT_TRUE(rows[3].starts_with("2," + std::to_string(counts.at(2).at(0).get<int>()) + ","));

  const std::string output = run_well(command);
  EXPECT_NE(output.find("\n\nconfusion: a row for each class, a column for each answer\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("\n\nclass    samples  precision     recall\n0  "), std::string::npos)
      << output;
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Evaluate, ShowsTheMostConfidentMistakes) {
  const std::string command = "stage01_serial evaluate --load digits.h5 --mistakes 3";
  const json mistakes = report_of(command).at("mistakes");
  ASSERT_EQ(mistakes.size(), 3U);
  double last = 1;
  for (const json& mistake : mistakes) {
    EXPECT_NE(mistake.at("label"), mistake.at("predicted"));
    EXPECT_LE(mistake.at("confidence"), last);
    EXPECT_GT(mistake.at("confidence"), 0.1);
    EXPECT_EQ(mistake.at("image").at("channels"), 1);
    ASSERT_EQ(mistake.at("image").at("rows").size(), 28U);
    for (const json& row : mistake.at("image").at("rows")) {
      EXPECT_EQ(row.get<std::string>().size(), 2 * 28U);
    }
    last = mistake.at("confidence");
  }
  const std::string output = run_well(command);
  for (const json& mistake : mistakes) {
    EXPECT_NE(
        output.find("sample " + mistake.at("sample").dump() + ": " + mistake.at("label").dump()),
        std::string::npos)
        << output;
  }
  EXPECT_EQ(output.find('\033'), std::string::npos) << "no colours in a pipe";
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Evaluate, NamesClassesAsTheTableDoes) {
  std::string table = "x,kind\n";
  for (int i = 0; i < 40; ++i) {
    table += std::to_string(i % 7) + (i % 7 < 3 ? ",cat\n" : ",\"dog, large\"\n");
  }
  write_file(path("table.csv"), Bytes(table.begin(), table.end()));
  run_well(
      "stage01_serial train --dataset table.csv --format csv --label kind --hidden 4 --batch-size "
      "4 "
      "--epochs 1 --save table.h5");
  const std::string command = "stage01_serial evaluate --load table.h5 --confusion --mistakes 2";
  EXPECT_EQ(report_of(command).at("class_names"), json::array({"cat", "dog, large"}));
  for (const json& mistake : report_of(command).at("mistakes")) {
    EXPECT_FALSE(mistake.contains("image")) << "a row of a table is none";
  }
  const std::string output = run_well(command);
  EXPECT_NE(output.find("\ncat  "), std::string::npos) << output;
  EXPECT_NE(output.find("\ndog, large  "), std::string::npos) << output;
}

}  // namespace
}  // namespace stagewise
