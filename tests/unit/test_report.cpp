#include <nlohmann/json.hpp>
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
  /// What is written, but for the memory.
  Json written(const Report& report) {
    write_report(path_, report);
    Json json = Json::parse(read_file(path_));
    json.erase("peak_memory_bytes");
    return json;
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
    report.epochs = {{.epoch = 1, .train_loss = 0.1, .train_accuracy = 0.5, .seconds = 2, .images_per_second = 1000},
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

/// What the report of the training says, but for the memory.
const Json written_training = Json::parse(R"json({
    "stage": "stage01_serial", "device": "a processor", "cuda_on_cpu": false,
    "command": "stage01_serial train", "model": "mlp", "dataset": "digits", "precision": "double",
    "batch_size": 100, "seed": 18446744073709551615,
    "epochs": [{"epoch": 1, "train_loss": 0.1, "train_accuracy": 0.5, "seconds": 2.0,
                "images_per_second": 1000.0},
               {"epoch": 2, "train_loss": 0.3333333333333333, "train_accuracy": 0.75,
                "validation_loss": 0.4, "validation_accuracy": 0.625, "seconds": 3.0, "images_per_second": 900.0}],
    "timings": []})json");

TEST_F(RunReport, LeavesOutWhatWasNotAskedFor) {
  EXPECT_EQ(written(training()), written_training);
  EXPECT_EQ(written({})["epochs"], Json::array());
}

TEST_F(RunReport, SaysWhatWasAskedFor) {
  Report report = training();
  report.ranks = 2;
  report.workers = 4;
  report.test_loss = 0.2;
  report.test_accuracy = 0.97;
  report.steps = {
      {.epoch = 1, .step = 10, .loss = 0.5, .accuracy = 0.25, .learning_rate = 0.1, .images_per_second = 7}};
  report.best_epoch = 2;
  report.latency = {{.path = "eager", .samples = 200, .median_seconds = 3e-5}};
  report.timings = {{.operation = "fc1 (linear)", .calls = 7, .forward_seconds = 0.5},
                    {.operation = "relu", .bytes = 12, .operations = 0, .floor_seconds = 0.25, .bound = "memory"}};
  report.class_names = {"cat", "dog"};
  report.confusion = {{{3, 1}, {0, 0}}, {1, 0}, {0.75, std::nullopt}};
  const Image image = {.height = 2, .width = 1, .channels = 3, .pixels = {0, 15, 16, 255, 1, 160}};
  report.mistakes =
      std::vector<MistakeReport>{{.sample = 4, .label = 0, .predicted = 1, .confidence = 0.875},
                                 {.sample = 5, .label = 0, .predicted = 1, .confidence = 0.75, .image = image}};
  report.predictions = {{.sample = 0, .label = 1, .predicted = 0, .scores = {0.75, 0.25}},
                        {.sample = 1, .label = std::nullopt, .predicted = 1, .scores = {0, 1}}};
  Json expected = written_training;
  expected.update(Json::parse(R"json({
      "ranks": 2, "workers": 4, "test_loss": 0.2, "test_accuracy": 0.97,
      "steps": [{"epoch": 1, "step": 10, "loss": 0.5, "accuracy": 0.25, "learning_rate": 0.1,
                 "images_per_second": 7.0}],
      "best_epoch": 2,
      "latency": [{"path": "eager", "samples": 200, "median_seconds": 3e-5, "p95_seconds": 0.0,
                   "p99_seconds": 0.0}],
      "timings": [{"operation": "fc1 (linear)", "calls": 7, "forward_seconds": 0.5,
                   "backward_seconds": 0.0},
                  {"operation": "relu", "calls": 0, "forward_seconds": 0.0,
                   "backward_seconds": 0.0, "bytes": 12, "operations": 0, "floor_seconds": 0.25,
                   "bound": "memory"}],
      "class_names": ["cat", "dog"],
      "confusion": {"counts": [[3, 1], [0, 0]], "precision": [1.0, 0.0], "recall": [0.75, null]},
      "mistakes": [{"sample": 4, "label": 0, "predicted": 1, "confidence": 0.875},
                   {"sample": 5, "label": 0, "predicted": 1, "confidence": 0.75,
                    "image": {"channels": 3, "rows": ["000f10", "ff01a0"]}}],
      "predictions": [{"sample": 0, "label": 1, "predicted": 0, "scores": [0.75, 0.25]},
                      {"sample": 1, "predicted": 1, "scores": [0.0, 1.0]}]})json"));
  EXPECT_EQ(written(report), expected);
  report.mistakes.emplace();
  EXPECT_EQ(written(report)["mistakes"], Json::array()) << "asked for, but there are none";
}

TEST_F(RunReport, CommandCanBePastedIntoAShell) {
  Report report;
  report.command = {"./stage01_serial", "train", "--hidden=256,128", "my file", "it's", "", "$HOME"};
  EXPECT_EQ(written(report)["command"], "./stage01_serial train --hidden=256,128 'my file' 'it'\\''s' '' '$HOME'");
}

TEST_F(RunReport, CommandThatIsNotUtf8IsWrittenAllTheSame) {
  Report report;
  report.command = {"train", "--save", "\xff\xfe.h5"};
  const auto command = written(report)["command"].get<std::string>();
  expect_contains(command, "train --save '");
  expect_contains(command, ".h5'");
}

}  // namespace
}  // namespace stagewise
