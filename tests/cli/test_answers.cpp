// `evaluate` and `predict` as they should go: the latter gives classes to samples that have none,
// and to pictures.

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Evaluate : public CommandLine {};

TEST_F(Evaluate, AgreesWithTheTrainingThatSaved) {
  const std::string trained = run_well(short_training + " --save model.h5");
  const std::string evaluated = run_well("stage01_serial evaluate --load model.h5 --test-limit 20");
  expect_contains(trained, "\n" + lines_of(evaluated).back() + "\n");
}

TEST_F(Evaluate, GivesTheSameForEveryBatchSize) {
  const std::string evaluate = "stage01_serial evaluate --load double.h5 --test-limit 500";
  const json reference = report_of(evaluate);
  for (const std::string batch : {"1", "499", "500", "9223372036854775807"}) {
    const json report = report_of(evaluate + " --batch-size " + batch);
    EXPECT_EQ(report.at("test_accuracy"), reference.at("test_accuracy")) << batch;
    EXPECT_NEAR(report.at("test_loss"), reference.at("test_loss"), 1e-12) << batch;
  }
}

TEST_F(Evaluate, SaysAndReportsWhatItFound) {
  const std::string command = "stage01_serial evaluate --load digits.h5 --dataset digits";
  const std::vector<std::string> lines = lines_of(run_well(command));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("stage01_serial on CPU (")) << lines[0];
  EXPECT_EQ(lines[1], "data   digits: 2,000 test images of 28x28x1, 10 classes");
  EXPECT_EQ(lines[2], "model  mlp 784-8-10, relu, cross-entropy, float, 6,370 parameters");
  EXPECT_EQ(lines[3], "load   digits.h5, after epoch 2");
  EXPECT_TRUE(lines[4].starts_with("test   loss ")) << lines[4];
  const json report = report_of(command);
  EXPECT_EQ(report.at("model"), "mlp 784-8-10, relu, cross-entropy");
  EXPECT_EQ(report.at("dataset"), "digits");
  EXPECT_EQ(report.at("epochs"), json::array());
  EXPECT_GT(report.at("test_accuracy"), 0);
  EXPECT_LT(report.at("test_accuracy"), 1);
  for (const char* const key : {"latency", "confusion", "mistakes", "class_names"}) {
    EXPECT_FALSE(report.contains(key)) << key;
  }
}

/// Or says that the network was trained on others.
TEST_F(Evaluate, UsesTheDataOfTheCheckpoint) { run_table("data_of_checkpoints"); }

TEST_F(Evaluate, CountsWhatIsTakenForWhat) {
  const std::string command = "stage01_serial evaluate --load digits.h5 --test-limit 100 --confusion --csv matrix.csv";
  const std::string output = run_well(command + " --report report.json");
  const json report = json::parse(text("report.json"));
  const json& counts = report.at("confusion").at("counts");
  int samples = 0;
  int correct = 0;
  for (std::size_t label = 0; label < 10; ++label) {
    for (const json& cell : counts.at(label)) samples += cell.get<int>();
    correct += counts.at(label).at(label).get<int>();
  }
  EXPECT_EQ(samples, 100);
  EXPECT_DOUBLE_EQ(report.at("test_accuracy").get<double>(), correct / 100.0);
  const std::vector<std::string> rows = lines_of(text("matrix.csv"));
  ASSERT_EQ(rows.size(), 11U);
  EXPECT_EQ(rows[0], "label,0,1,2,3,4,5,6,7,8,9");
  EXPECT_TRUE(rows[3].starts_with("2," + counts.at(2).at(0).dump() + ",")) << rows[3];
  expect_contains(output, "\n\nconfusion: a row for each class, a column for each answer\n");
  expect_contains(output, "\n\nclass    samples  precision     recall\n0  ");
  expect_narrow(output);
}

TEST_F(Evaluate, ShowsTheMostConfidentMistakes) {
  const std::string output = run_well("stage01_serial evaluate --load digits.h5 --mistakes 3 --report report.json");
  const json mistakes = json::parse(text("report.json")).at("mistakes");
  ASSERT_EQ(mistakes.size(), 3U);
  double last = 1;
  for (const json& mistake : mistakes) {
    EXPECT_NE(mistake.at("label"), mistake.at("predicted"));
    EXPECT_LE(mistake.at("confidence"), last);
    last = mistake.at("confidence");
    EXPECT_EQ(mistake.at("image").at("rows").size(), 28U);
    expect_contains(output, "sample " + mistake.at("sample").dump() + ": " + mistake.at("label").dump());
  }
  EXPECT_EQ(count(output, "\033"), 0) << "no colours in a pipe";
  expect_narrow(output);
}

TEST_F(Evaluate, NamesClassesAsTheTableDoes) {
  std::string table = "x,kind\n";
  for (int i = 0; i < 40; ++i) {
    table += std::to_string(i % 7) + (i % 7 < 3 ? ",cat\n" : ",\"dog, large\"\n");
  }
  write("table.csv", table);
  run_well(
      "stage01_serial train --dataset table.csv --format csv --label kind --hidden 8 --batch-size "
      "4 --epochs 30 --save table.h5");
  const json names = json::array({"cat", "dog, large"});
  const std::string output =
      run_well("stage01_serial evaluate --load table.h5 --confusion --mistakes 2 --report report.json");
  EXPECT_EQ(json::parse(text("report.json")).at("class_names"), names);
  expect_contains(output, "\ncat  ");
  expect_contains(output, "\ndog, large  ");

  write("new.csv", "x\n0\n6\n");
  const json report = report_of("stage01_serial predict --load table.h5 --dataset new.csv --format csv --csv all.csv");
  EXPECT_EQ(report.at("class_names"), names);
  const std::vector<std::string> rows = lines_of(text("all.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "sample,predicted,probability cat,\"probability dog, large\"");
  EXPECT_TRUE(rows[1].starts_with("0,cat,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("1,\"dog, large\",")) << rows[2];
}

// ---------------------------------------------------------------------------------------- predict

class Predict : public CommandLine {
 protected:
  /// Copies a picture of the folder pictures/.
  void copy_picture(const std::string& name) const {
    fs::copy_file(fs::path(STAGEWISE_REPOSITORY) / "tests/cli/pictures" / name, path(name));
  }

  const std::string predict = "stage01_serial predict --load digits.h5 ";
};

TEST_F(Predict, AgreesWithTheEvaluation) {
  const json evaluation = report_of("stage01_serial evaluate --confusion --load digits.h5 --test-limit 53");
  const json predictions = report_of(predict + "--test-limit 53 --batch-size 7").at("predictions");
  ASSERT_EQ(predictions.size(), 53U);
  std::vector<std::vector<int>> counts(10, std::vector<int>(10));
  for (std::size_t i = 0; i < 53; ++i) {
    const json& prediction = predictions.at(i);
    EXPECT_EQ(prediction.at("sample"), i);
    ++counts[prediction.at("label").get<std::size_t>()][prediction.at("predicted").get<std::size_t>()];
  }
  EXPECT_EQ(evaluation.at("confusion").at("counts"), json(counts));
}

TEST_F(Predict, ShowsTheFirstAndWritesAll) {
  const std::string output = run_well(predict + "--test-limit 25 --csv all.csv");
  const std::vector<std::string> lines = lines_of(output);
  ASSERT_EQ(lines.size(), 28U) << output;
  EXPECT_EQ(lines[4], "note   the data set is that of the checkpoint; --dataset names another");
  EXPECT_EQ(lines[6], "sample   label         answer        probability  second        probability");
  EXPECT_TRUE(lines[7].starts_with("0        ")) << lines[7];
  EXPECT_TRUE(lines[26].starts_with("19       ")) << lines[26];
  EXPECT_EQ(lines[27], "and 5 more, which --csv and --report write");
  expect_narrow(output);
  const std::vector<std::string> rows = lines_of(text("all.csv"));
  ASSERT_EQ(rows.size(), 26U);
  EXPECT_TRUE(rows[0].starts_with("sample,label,predicted,probability 0,probability 1,"));
  EXPECT_TRUE(rows[25].starts_with("24,")) << rows[25];
}

TEST_F(Predict, NeedsNoLabels) {
  make_input("digits");
  const std::string images = "--format idx --dataset digits/t10k-images-idx3-ubyte ";
  const json with = report_of(predict + images).at("predictions");
  fs::remove(path("digits/t10k-labels-idx1-ubyte"));
  const std::string output = run_well(predict + images + "--report report.json --csv all.csv");
  const json without = json::parse(text("report.json")).at("predictions");
  ASSERT_EQ(without.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(with.at(i).contains("label"));
    EXPECT_FALSE(without.at(i).contains("label"));
    EXPECT_EQ(with.at(i).at("scores"), without.at(i).at("scores"));
  }
  EXPECT_TRUE(text("all.csv").starts_with("sample,predicted,probability 0,"));
  expect_contains(output, ": 20 images of 28x28x1, 10 classes\n");
  EXPECT_EQ(count(output, "label  ") + count(output, "wrong"), 0) << output;
  expect_failure("stage01_serial evaluate --load digits.h5 " + images, 1,
                 "needs its labels in digits/t10k-labels-idx1-ubyte (with or without .gz), which is not there");
}

TEST_F(Predict, DrawsOneSample) {
  const json all = report_of(predict + "--test-limit 5").at("predictions");
  const std::string output = run_well(predict + "--sample 3 --test-limit 5 --report report.json");
  EXPECT_EQ(json::parse(text("report.json")).at("predictions"), json::array({all.at(3)}));
  const std::vector<std::string> lines = lines_of(output);
  ASSERT_EQ(lines.size(), 5U + 1 + 14 + 1 + 1 + 1 + 11);
  for (std::size_t i = 6; i < 20; ++i) EXPECT_EQ(lines[i].size(), 28U) << lines[i];
  EXPECT_TRUE(lines[21].starts_with("label         ")) << lines[21];
  EXPECT_EQ(lines[23], "class         probability");
}

/// Of a 7 on light paper, of another size than a digit.
TEST_F(Predict, ReadsAPicture) {
  run_well(
      "stage01_serial train --train-limit 2000 --test-limit 20 --hidden 64 --epochs 6 "
      "--batch-size 20 --learning-rate 0.05 --save good.h5");
  copy_picture("seven.png");
  const std::string command = "stage01_serial predict --load good.h5 --image seven.png ";
  const std::string said = run(command).err;
  if (said.find("no libpng") != std::string::npos) GTEST_SKIP() << said;
  const json report = report_of(command);
  const json& predictions = report.at("predictions");
  ASSERT_EQ(predictions.size(), 1U);
  EXPECT_EQ(predictions.at(0).at("predicted"), 7);
  EXPECT_FALSE(predictions.at(0).contains("label"));
  EXPECT_EQ(report.at("dataset"), "seven.png");
  EXPECT_EQ(report_of(command + "--background light").at("predictions"), predictions);
  EXPECT_NE(report_of(command + "--background dark").at("predictions"), predictions);
  const std::string output = run_well(command);
  expect_contains(output, "\ndata   seven.png: a picture of 90x60, as one of 28x28x1, 10 classes\n");
  expect_contains(output, "\n7             0.");
  expect_contains(output, " ####");
  copy_picture("empty.png");
  expect_failure("stage01_serial predict --load good.h5 --image empty.png", 1,
                 "cannot use the image empty.png: nothing is drawn on it: all its pixels are the ...");
}

}  // namespace
}  // namespace stagewise
