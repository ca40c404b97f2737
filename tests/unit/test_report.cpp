#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "io/report.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

using Json = nlohmann::json;

class RunReport : public testing::Test {
 protected:
  Json written(const Report& report) {
    write_report(path_, report);
    return Json::parse(read_file(path_));
  }

  static std::set<std::string> keys(const Json& json) {
    std::set<std::string> result;
    for (const auto& item : json.items()) result.insert(item.key());
    return result;
  }

  static Report training() {
    Report report;
    report.stage = "stage01_serial";
    report.device = "a processor";
    report.command = {"stage01_serial", "train"};
    report.model = "mlp";
    report.dataset = "digits";
    report.precision = "double";
    report.batch_size = 100;
    report.seed = 18446744073709551615U;
    report.epochs = {{.epoch = 1,
                      .train_loss = 0.1,
                      .train_accuracy = 0.5,
                      .seconds = 2,
                      .images_per_second = 1000},
                     {.epoch = 2,
                      .train_loss = 1.0 / 3,
                      .train_accuracy = 0.75,
                      .validation_loss = 0.4,
                      .validation_accuracy = 0.625,
                      .seconds = 3,
                      .images_per_second = 900}};
    return report;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "report.json";
};

TEST_F(RunReport, SaysWhatWasAskedFor) {
  Report report = training();
  report.steps = {{.epoch = 1,
                   .step = 10,
                   .loss = 0.5,
                   .accuracy = 0.25,
                   .learning_rate = 0.1,
                   .images_per_second = 7}};
  report.best_epoch = 2;
  report.class_names = {"cat", "dog"};
  report.confusion = {{{3, 1}, {0, 0}}, {1, 0}, {0.75, std::nullopt}};
  report.mistakes =
      std::vector<MistakeReport>{{.sample = 4, .label = 0, .predicted = 1, .confidence = 0.875}};
  report.predictions = {{.sample = 0, .label = 1, .predicted = 0, .scores = {0.75, 0.25}},
                        {.sample = 1, .label = std::nullopt, .predicted = 1, .scores = {0, 1}}};
  const Json json = written(report);
  EXPECT_EQ(json["steps"], Json::array({{{"epoch", 1},
                                         {"step", 10},
                                         {"loss", 0.5},
                                         {"accuracy", 0.25},
                                         {"learning_rate", 0.1},
                                         {"images_per_second", 7.0}}}));
  EXPECT_EQ(json["best_epoch"], 2);
  EXPECT_EQ(json["class_names"], Json::array({"cat", "dog"}));
  EXPECT_EQ(json["confusion"]["counts"], (std::vector<std::vector<int>>{{3, 1}, {0, 0}}));
  EXPECT_EQ(json["confusion"]["precision"], Json::array({1.0, 0.0}));
  EXPECT_EQ(json["confusion"]["recall"], Json::array({0.75, nullptr}));
  EXPECT_EQ(json["mistakes"],
            Json::array({{{"sample", 4}, {"label", 0}, {"predicted", 1}, {"confidence", 0.875}}}));
  ASSERT_EQ(json["predictions"].size(), 2U);
  EXPECT_EQ(keys(json["predictions"][0]),
            (std::set<std::string>{"sample", "label", "predicted", "scores"}));
  EXPECT_EQ(json["predictions"][0]["scores"], (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(keys(json["predictions"][1]), (std::set<std::string>{"sample", "predicted", "scores"}));

  const Image image = {.height = 2, .width = 1, .channels = 3, .pixels = {0, 15, 16, 255, 1, 160}};
  report.mistakes->front().image = image;
  EXPECT_EQ(written(report)["mistakes"][0]["image"],
            Json({{"channels", 3}, {"rows", {"000f10", "ff01a0"}}}));

  report.mistakes.emplace();
  EXPECT_EQ(written(report)["mistakes"], Json::array()) << "asked for, but there are none";
}

TEST_F(RunReport, SaysHowManyWorkTogether) {
  Report report = training();
  report.ranks = 2;
  report.workers = 4;
  EXPECT_EQ(written(report)["ranks"], 2);
  EXPECT_EQ(written(report)["workers"], 4);
}

TEST_F(RunReport, HasTheKeysOfTheContractAndNoOthers) {
  Report report = training();
  report.test_loss = 0.2;
  report.test_accuracy = 0.97;
  report.latency = {{.path = "eager", .samples = 200, .median_seconds = 3e-5},
                    {.path = "captured", .samples = 100}};
  report.timings = {{.operation = "fc1 (linear)", .calls = 7, .forward_seconds = 0.5}};
  const Json json = written(report);
  EXPECT_EQ(keys(json),
            (std::set<std::string>{"stage", "device", "cuda_on_cpu", "command", "model", "dataset",
                                   "precision", "batch_size", "seed", "epochs", "test_loss",
                                   "test_accuracy", "latency", "timings", "peak_memory_bytes"}));
  EXPECT_EQ(keys(json["epochs"][0]), (std::set<std::string>{"epoch", "train_loss", "train_accuracy",
                                                            "seconds", "images_per_second"}));
  EXPECT_EQ(keys(json["epochs"][1]),
            (std::set<std::string>{"epoch", "train_loss", "train_accuracy", "validation_loss",
                                   "validation_accuracy", "seconds", "images_per_second"}));
  EXPECT_EQ(keys(json["timings"][0]),
            (std::set<std::string>{"operation", "calls", "forward_seconds", "backward_seconds"}));
  report.timings.front().bytes = 12;
  report.timings.front().operations = 0;
  report.timings.front().floor_seconds = 0.25;
  report.timings.front().bound = "memory";
  const Json explained = written(report)["timings"][0];
  EXPECT_EQ(explained["bytes"], 12);
  EXPECT_EQ(explained["operations"], 0);
  EXPECT_EQ(explained["floor_seconds"], 0.25);
  EXPECT_EQ(explained["bound"], "memory");
  ASSERT_EQ(json["latency"].size(), 2U);
  for (const Json& path : json["latency"]) {
    EXPECT_EQ(keys(path), (std::set<std::string>{"path", "samples", "median_seconds", "p95_seconds",
                                                 "p99_seconds"}));
  }
  EXPECT_EQ(json["latency"][0]["path"], "eager");
  EXPECT_EQ(json["latency"][1]["samples"], 100);
}

TEST_F(RunReport, LeavesOutWhatWasNotMeasured) {
  const Json json = written(training());
  EXPECT_FALSE(json.contains("test_loss"));
  EXPECT_FALSE(json.contains("test_accuracy"));
  EXPECT_FALSE(json.contains("latency"));
  EXPECT_EQ(json["timings"], Json::array());
  EXPECT_EQ(written({})["epochs"], Json::array());
}

TEST_F(RunReport, KeepsEveryValueExactly) {
  const Json json = written(training());
  EXPECT_EQ(json["stage"], "stage01_serial");
  EXPECT_EQ(json["device"], "a processor");
  EXPECT_EQ(json["cuda_on_cpu"], false);
  EXPECT_EQ(json["model"], "mlp");
  EXPECT_EQ(json["dataset"], "digits");
  EXPECT_EQ(json["precision"], "double");
  EXPECT_EQ(json["batch_size"], 100);
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), 18446744073709551615U);
  ASSERT_EQ(json["epochs"].size(), 2U);
  EXPECT_EQ(json["epochs"][1]["epoch"], 2);
  EXPECT_EQ(json["epochs"][1]["train_loss"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["epochs"][1]["train_accuracy"].get<double>(), 0.75);
  EXPECT_EQ(json["epochs"][1]["validation_loss"].get<double>(), 0.4);
  EXPECT_EQ(json["epochs"][1]["validation_accuracy"].get<double>(), 0.625);
  EXPECT_EQ(json["epochs"][1]["seconds"].get<double>(), 3);
  EXPECT_EQ(json["epochs"][1]["images_per_second"].get<double>(), 900);
}

TEST_F(RunReport, CommandCanBePastedIntoAShell) {
  Report report;
  report.command = {
      "./stage01_serial", "train", "--hidden=256,128", "my file", "it's", "", "$HOME"};
  EXPECT_EQ(written(report)["command"],
            "./stage01_serial train --hidden=256,128 'my file' 'it'\\''s' '' '$HOME'");
}

TEST_F(RunReport, CommandThatIsNotUtf8IsWrittenAllTheSame) {
  Report report;
  report.command = {"train", "--save", "\xff\xfe.h5"};
  const auto command = written(report)["command"].get<std::string>();
  expect_contains(command, "train --save '");
  expect_contains(command, ".h5'");
}

TEST_F(RunReport, PeakMemoryIsThatOfThisProcess) {
  const auto bytes = written({})["peak_memory_bytes"].get<std::int64_t>();
  EXPECT_GT(bytes, 1'000'000);
  EXPECT_LE(bytes, peak_memory_bytes());
}

TEST_F(RunReport, ReplacesTheFileAsAWhole) {
  written(training());
  written({});
  EXPECT_EQ(folder_.entries(), 1);
  EXPECT_EQ(sentence_of([&] { write_report(folder_.path(), training()); }),
            "the report " + folder_.path().string() + " cannot be written: it is a folder");
}

}  // namespace
}  // namespace stagewise
