// `predict`: classes for samples that have none, and for pictures.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Predict : public CommandLine {
 protected:
  void write(const std::string& name, const std::string& text) const {
    write_file(path(name), Bytes(text.begin(), text.end()));
  }

  /// A picture of a 7 on light paper, of another size than a digit.
  void draw_seven(const std::string& name) const {
    std::string picture = "P2 60 90 255\n";
    for (int y = 0; y < 90; ++y) {
      for (int x = 0; x < 60; ++x) {
        const bool is_bar = y >= 10 && y < 18 && x >= 10 && x < 50;
        const bool is_stroke = y >= 10 && y < 80 && 2 * x + y >= 102 && 2 * x + y < 118;
        picture += is_bar || is_stroke ? "20 " : "245 ";
      }
      picture += '\n';
    }
    write(name, picture);
  }
};

TEST_F(Predict, AgreesWithTheEvaluation) {
  const std::string network = " --load digits.h5 --test-limit 53";
  const json evaluation = report_of("stage01_serial evaluate --confusion" + network);
  for (const std::string batch : {"", " --batch-size 7", " --batch-size 53"}) {
    const json report = report_of("stage01_serial predict" + network + batch);
    ASSERT_EQ(report.at("predictions").size(), 53U);
    std::vector<std::vector<int>> counts(10, std::vector<int>(10));
    for (std::size_t i = 0; i < 53; ++i) {
      const json& prediction = report.at("predictions").at(i);
      EXPECT_EQ(prediction.at("sample"), i);
      ++counts[prediction.at("label").get<std::size_t>()]
              [prediction.at("predicted").get<std::size_t>()];
      double sum = 0;
      double largest = 0;
      for (const json& score : prediction.at("scores")) {
        sum += score.get<double>();
        largest = std::max(largest, score.get<double>());
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_EQ(prediction.at("scores").at(prediction.at("predicted").get<std::size_t>()), largest);
    }
    EXPECT_EQ(evaluation.at("confusion").at("counts"), json(counts)) << batch;
  }
}

TEST_F(Predict, ShowsTheFirstAndWritesAll) {
  const std::string output =
      run_well("stage01_serial predict --load digits.h5 --test-limit 25 --csv all.csv");
  const std::vector<std::string> lines = lines_of(output);
  ASSERT_EQ(lines.size(), 28U) << output;
  EXPECT_EQ(lines[4], "note   the data set is that of the checkpoint; --dataset names another");
  EXPECT_EQ(lines[6],
            "sample   label         answer        probability  second        probability");
  EXPECT_TRUE(lines[7].starts_with("0        ")) << lines[7];
  EXPECT_TRUE(lines[26].starts_with("19       ")) << lines[26];
  EXPECT_EQ(lines[27], "and 5 more, which --csv and --report write");
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;

  const std::vector<std::string> rows = lines_of(text("all.csv"));
  ASSERT_EQ(rows.size(), 26U);
  EXPECT_TRUE(rows[0].starts_with("sample,label,predicted,probability 0,probability 1,"));
  EXPECT_TRUE(rows[25].starts_with("24,")) << rows[25];
}

TEST_F(Predict, NeedsNoLabels) {
  make_input("digits");
  const std::string command =
      "stage01_serial predict --load digits.h5 --format idx --dataset "
      "digits/t10k-images-idx3-ubyte";
  const json with = report_of(command);
  fs::remove(path("digits/t10k-labels-idx1-ubyte"));
  const json without = report_of(command + " --csv all.csv");
  ASSERT_EQ(without.at("predictions").size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(with.at("predictions").at(i).contains("label"));
    EXPECT_FALSE(without.at("predictions").at(i).contains("label"));
    EXPECT_EQ(with.at("predictions").at(i).at("scores"),
              without.at("predictions").at(i).at("scores"));
  }
  EXPECT_TRUE(text("all.csv").starts_with("sample,predicted,probability 0,"));
  const std::string output = run_well(command);
  EXPECT_NE(output.find(": 20 images of 28x28x1, 10 classes\n"), std::string::npos) << output;
  EXPECT_EQ(output.find("label  "), std::string::npos) << output;
  EXPECT_EQ(output.find("wrong"), std::string::npos) << output;

  expect_failure(
      "stage01_serial evaluate --load digits.h5 --format idx --dataset "
      "digits/t10k-images-idx3-ubyte",
      1, "cannot read digits/t10k-labels-idx1-ubyte: there is no such file");
  expect_failure(
      "stage01_serial predict --load other.h5 --format idx --dataset "
      "digits/t10k-images-idx3-ubyte",
      1,
      "the checkpoint other.h5 does not say what its samples are; train --load other.h5 --save "
      "FILE adds that");
}

TEST_F(Predict, NamesTheClassesOfATable) {
  std::string table = "x,kind\n";
  for (int i = 0; i < 40; ++i) {
    table += std::to_string(i % 7) + (i % 7 < 3 ? ",cat\n" : ",\"dog, large\"\n");
  }
  write("table.csv", table);
  run_well(
      "stage01_serial train --dataset table.csv --format csv --label kind --hidden 8 --batch-size "
      "4 "
      "--epochs 30 --save table.h5");
  write("new.csv", "x\n0\n6\n");
  const std::string command =
      "stage01_serial predict --load table.h5 --dataset new.csv --format csv --csv all.csv";
  EXPECT_EQ(report_of(command).at("class_names"), json::array({"cat", "dog, large"}));
  const std::vector<std::string> rows = lines_of(text("all.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "sample,predicted,probability cat,\"probability dog, large\"");
  EXPECT_TRUE(rows[1].starts_with("0,cat,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("1,\"dog, large\",")) << rows[2];
}

TEST_F(Predict, CallsTheOutputsOfASquaredErrorWhatTheyAre) {
  run_well(short_training + " --loss squared-error --epochs 1 --save squared.h5");
  const std::string output = run_well("stage01_serial predict --load squared.h5 --test-limit 5");
  EXPECT_NE(output.find("answer        output       second        output\n"), std::string::npos)
      << output;
  EXPECT_EQ(output.find("probability"), std::string::npos) << output;
  const json report = report_of("stage01_serial predict --load neuron.h5 --test-limit 5");
  for (const json& prediction : report.at("predictions")) {
    ASSERT_EQ(prediction.at("scores").size(), 2U);
    EXPECT_NEAR(
        prediction.at("scores").at(0).get<double>() + prediction.at("scores").at(1).get<double>(),
        1, 1e-6);
  }
}

TEST_F(Predict, DrawsOneSample) {
  const json all = report_of("stage01_serial predict --load digits.h5 --test-limit 5");
  const std::string command = "stage01_serial predict --load digits.h5 --sample 3 --test-limit 5";
  const json one = report_of(command);
  EXPECT_EQ(one.at("predictions"), json::array({all.at("predictions").at(3)}));
  const std::vector<std::string> lines = lines_of(run_well(command));
  ASSERT_EQ(lines.size(), 5U + 1 + 14 + 1 + 1 + 1 + 11);
  for (std::size_t i = 6; i < 20; ++i) EXPECT_EQ(lines[i].size(), 28U) << lines[i];
  EXPECT_TRUE(lines[21].starts_with("label         ")) << lines[21];
  EXPECT_EQ(lines[23], "class         probability");
}

TEST_F(Predict, ReadsAPicture) {
  run_well(
      "stage01_serial train --train-limit 2000 --test-limit 20 --hidden 64 --epochs 6 "
      "--batch-size 20 --learning-rate 0.05 --save good.h5");
  draw_seven("seven.pgm");
  const std::string command = "stage01_serial predict --load good.h5 --image seven.pgm";
  const json report = report_of(command);
  ASSERT_EQ(report.at("predictions").size(), 1U);
  EXPECT_EQ(report.at("predictions").at(0).at("predicted"), 7);
  EXPECT_FALSE(report.at("predictions").at(0).contains("label"));
  EXPECT_EQ(report.at("dataset"), "seven.pgm");
  EXPECT_EQ(report_of(command + " --background light").at("predictions"), report.at("predictions"));
  EXPECT_NE(report_of(command + " --background dark").at("predictions"), report.at("predictions"));
  const std::string output = run_well(command);
  EXPECT_NE(output.find("\ndata   seven.pgm: a picture of 90x60, as one of 28x28x1, 10 classes\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("\n7             0."), std::string::npos) << output;
  EXPECT_NE(output.find(" ####"), std::string::npos) << output;

  write("empty.pgm", "P2 2 2 255 7 7 7 7");
  expect_failure("stage01_serial predict --load good.h5 --image empty.pgm", 1,
                 "cannot use the image empty.pgm: nothing is drawn on it: all its pixels are the "
                 "same");
}

TEST_F(Predict, UsesColoursWhereTheTerminalHasThem) {
  make_input("digits.h5");
  const std::string command = "stage01_serial predict --load digits.h5 --sample 0";
  const auto on_terminal = [&](const std::string& kind, const std::string& colours,
                               const std::string& no_colour) {
    surroundings_.variables["TERM"] = kind;
    surroundings_.variables["COLORTERM"] = colours;
    surroundings_.variables["NO_COLOR"] = no_colour;
    return run_on_terminal(resolve(command), surroundings_).bytes;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(on_terminal("xterm", "truecolor", ""), "\033[38;2;"));
  EXPECT_TRUE(has(on_terminal("xterm-256color", "", ""), "\033[38;5;"));
  EXPECT_TRUE(has(on_terminal("xterm-256color", "", ""), "\u2580"));
  EXPECT_FALSE(has(on_terminal("xterm", "", ""), "\033["));
  EXPECT_FALSE(has(on_terminal("xterm-256color", "truecolor", "1"), "\033["));
  EXPECT_FALSE(has(on_terminal("dumb", "truecolor", ""), "\033["));
  const Outcome piped = run(command);
  EXPECT_FALSE(has(piped.out, "\033["));
  EXPECT_FALSE(has(piped.out, "\u2580"));
}

class PredictInAStage : public Predict, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { need_device(GetParam()); }
};

TEST_P(PredictInAStage, SaysWhatStage01Says) {
  const std::string options = " predict --load double.h5 --test-limit 23 --batch-size 10";
  const json serial = report_of("stage01_serial" + options);
  const json own = report_of(GetParam() + options);
  ASSERT_EQ(own.at("predictions").size(), 23U);
  for (std::size_t i = 0; i < 23; ++i) {
    const json& expected = serial.at("predictions").at(i);
    const json& found = own.at("predictions").at(i);
    EXPECT_EQ(found.at("predicted"), expected.at("predicted"));
    for (std::size_t c = 0; c < 10; ++c) {
      EXPECT_NEAR(found.at("scores").at(c).get<double>(), expected.at("scores").at(c).get<double>(),
                  1e-12);
    }
  }
}

std::vector<std::string> other_stages() {
  std::vector<std::string> names = {
      "stage02_naive_cuda", "stage03_shared_memory", "stage04_minibatch", "ladder blocked",
      "ladder rungs",       "ladder persistent",     "per_step_memory",   "fold_bias"};
#ifdef STAGEWISE_STAGE05
  names.emplace_back("stage05_mpi");
#endif
  return names;
}

INSTANTIATE_TEST_SUITE_P(Stages, PredictInAStage, testing::ValuesIn(other_stages()),
                         [](const auto& stage) { return test_name(stage.param); });

}  // namespace
}  // namespace stagewise
