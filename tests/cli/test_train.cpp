// `train` as it should go.

#include <algorithm>
#include <cmath>
#include <regex>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class Train : public CommandLine {};

/// Expects that an object has these keys, in the order of the alphabet.
void expect_keys(const json& object, const std::string& keys) {
  std::string found;
  for (const auto& item : object.items()) found += (found.empty() ? "" : " ") + item.key();
  EXPECT_EQ(found, keys);
}

/// Whether an accuracy of so many samples is a fraction of counts.
void expect_fraction(const json& accuracy, int samples) {
  const double correct = samples * accuracy.get<double>();
  EXPECT_NEAR(correct, std::round(correct), 1e-9);
}

TEST_F(Train, ReportsWhatTheContractSays) {
  const json report = report_of(short_training + " --epochs 3 --seed 7 --timings --validation 20");
  expect_keys(report,
              "batch_size best_epoch command cuda_on_cpu dataset device epochs model "
              "peak_memory_bytes precision seed stage test_accuracy test_loss timings");
  const json expected = json::parse(
      R"({"stage": "stage01_serial", "cuda_on_cpu": false, "dataset": "digits", "precision": "float",
          "model": "mlp 784-8-10, relu, cross-entropy", "batch_size": 20, "seed": 7})");
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(report.at(key), value) << key;
  EXPECT_TRUE(report.at("device").get<std::string>().starts_with("CPU ("));
  expect_contains(report.at("command").get<std::string>(), " train --train-limit 60");
  EXPECT_GT(report.at("peak_memory_bytes"), 1'000'000);
  EXPECT_GT(report.at("test_loss"), 0);
  expect_fraction(report.at("test_accuracy"), 20);
  ASSERT_EQ(report.at("epochs").size(), 3U);
  for (const json& epoch : report.at("epochs")) {
    expect_keys(epoch,
                "epoch images_per_second seconds train_accuracy train_loss validation_accuracy "
                "validation_loss");
    expect_fraction(epoch.at("train_accuracy"), 40);
    expect_fraction(epoch.at("validation_accuracy"), 20);
    const double seconds = epoch.at("seconds");
    EXPECT_NEAR(epoch.at("images_per_second"), 40 / seconds, 1e-6 * 40 / seconds);
  }
  EXPECT_LT(report.at("epochs").at(2).at("train_loss"), report.at("epochs").at(0).at("train_loss"));
  ASSERT_GT(report.at("timings").size(), 4U);
  for (const json& row : report.at("timings")) {
    expect_keys(row, "backward_seconds calls forward_seconds operation");
    EXPECT_EQ(row.at("calls"), 6) << row;  // 3 epochs of 2 steps
    const double forward = row.at("forward_seconds");
    const double backward = row.at("backward_seconds");
    EXPECT_GT(forward + backward, 0) << row;
    EXPECT_EQ(forward * backward, 0) << "a line is on the way forward, or back: " << row;
  }
}

TEST_F(Train, PrintsATableOfTimings) {
  const std::string output = run_well(short_training + " --epochs 1 --timings");
  expect_narrow(output);
  const std::vector<std::string> lines = lines_of(output.substr(output.find("\nline ") + 1));
  ASSERT_GE(lines.size(), 7U) << output;
  double share = 0;
  for (const std::string& line : lines) {
    if (!line.ends_with(" %")) continue;
    EXPECT_EQ(line.size(), lines[1].size()) << "columns are not aligned:\n" << output;
    share += std::stod(line.substr(line.size() - 8));
  }
  EXPECT_NEAR(share, 100, 0.5) << output;
  expect_contains(output, "\ngemm  batch, fc1/weight -> fc1/product ");
  expect_contains(output, "\ngemm  fc1/output, d fc2/output -> d fc2/weight ");
}

/// And what the outputs of such a network are.
TEST_F(Train, SaysWithWhatItTrains) { run_table("what_it_trains_with"); }

TEST_F(Train, SavesWhereTrainingStands) {
  run_well(
      "stage01_serial train --train-limit 60 --test-limit 20 --hidden 4,3 --activation sigmoid "
      "--batch-size 20 --epochs 3 --seed 9 --save saved.h5");
  const Checkpoint checkpoint = load_checkpoint(path("saved.h5"));
  EXPECT_EQ(checkpoint.model, "mlp");
  EXPECT_EQ(checkpoint.seed, 9U);
  EXPECT_EQ(checkpoint.epoch, 3);
  EXPECT_EQ(checkpoint.step, 9);
  EXPECT_EQ(checkpoint.settings.at("hidden"), "4,3");
  EXPECT_EQ(checkpoint.settings.at("batch-size"), "20");
  std::string shapes;
  for (const ParameterValues& parameter : checkpoint.parameters) {
    shapes += parameter.name + " " + parameter.shape.to_string() + " ";
  }
  EXPECT_EQ(shapes,
            "fc1/bias [4] fc1/weight [784, 4] fc2/bias [3] fc2/weight [4, 3] fc3/bias [10] "
            "fc3/weight [3, 10] ");
}

/// By every form of the matrix product; from loaded parameters, where the seed decides the order
/// only, and --load says what the network is; from files that hold what the generator makes; and
/// whether it is logged or not.
TEST_F(Train, LearnsTheSame) {
  run_table("same_trainings");
  surroundings_.variables["STAGEWISE_DATA_DIR"] = "here";
  expect_contains(run_well("stage01_serial train --batch-size 10 --epochs 1 --dataset mnist"),
                  "mnist: 50 training and 20 test images");
}

TEST_F(Train, LearnsTheStep) {
  const std::string train = "stage01_serial train --model neuron --dataset step ";
  const std::string output = run_well(train + "--save step.h5");
  expect_contains(output, "model  neuron 1-1, sigmoid, squared-error, float, 2 parameters\n");
  const std::string test = output.substr(output.find("\ntest "));
  EXPECT_GE(std::stod(between(test, "accuracy ", " ")), 0.97) << output;
  // What a neuron is may be written out.
  run_well(train + "--load step.h5 --epochs 1 --activation sigmoid --loss squared-error");
}

/// Less than chance after an epoch is progress, more is a rate that is too high, and l2 is no loss.
TEST_F(Train, SaysWhereTheRateIsTooHigh) { run_table("rates"); }

// --------------------------------------------------------------------------------------- the log

TEST_F(Train, LogsEveryKSteps) {
  const std::string output = run_well(short_training +
                                      " --validation 10 --epochs 2 --log-every 2 --csv log.csv "
                                      "--report report.json");
  const json report = json::parse(text("report.json"));
  ASSERT_EQ(report.at("steps").size(), 4U);  // 50 samples in steps of 20
  const std::vector<std::string> rows = lines_of(text("log.csv"));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0],
            "epoch,step,loss,accuracy,learning_rate,images_per_second,validation_loss,"
            "validation_accuracy");
  for (std::size_t i = 0; i < 4; ++i) {
    const json& step = report.at("steps").at(i);
    expect_keys(step, "accuracy epoch images_per_second learning_rate loss step");
    EXPECT_EQ(step.at("epoch"), i / 2 + 1);
    EXPECT_EQ(step.at("step"), std::vector<int>({2, 3, 5, 6})[i]);
    EXPECT_TRUE(rows[i + 1].starts_with(step.at("epoch").dump() + "," + step.at("step").dump() + ",")) << rows[i + 1];
    EXPECT_EQ(rows[i + 1].ends_with(",,"), i % 2 == 0) << "validation is at an epoch's end";
  }
  const std::regex line(R"(step \d  loss \d\.\d{6}  accuracy 0\.\d{4}  rate 0\.15  [\d,.]+( [kM])? images/s)");
  int steps = 0;
  for (const std::string& said : lines_of(output)) steps += std::regex_match(said, line) ? 1 : 0;
  EXPECT_EQ(steps, 4) << output;
}

TEST_F(Train, LogsEpochsUnlessAskedForSteps) {
  const json report = report_of(short_training + " --epochs 2 --csv log.csv");
  for (const char* const key : {"steps", "best_epoch"}) EXPECT_FALSE(report.contains(key)) << key;
  EXPECT_EQ(report.at("timings"), json::array());
  const std::vector<std::string> rows = lines_of(text("log.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[1].starts_with("1,3,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("2,6,")) << rows[2];
}

/// The rows of a log without the column with the speed.
std::string without_speed(const std::string& log) {
  return std::regex_replace(log, std::regex("(\n(?:[^,\n]*,){5})[^,\n]*"), "$1");
}

TEST_F(Train, ContinuesTheLogOfWhatItResumes) {
  for (const std::string& more : std::vector<std::string>{"", " --log-every 2"}) {
    const std::string logged = " --csv log.csv --validation 10" + more;
    run_well(short_training + logged + " --epochs 4");
    const std::string whole = without_speed(text("log.csv"));
    run_well(short_training + logged + " --epochs 2 --save a.h5");
    const std::string first = text("log.csv");
    const std::string resume = "stage01_serial train --resume a.h5 --csv log.csv" + more;
    run_well(resume + " --epochs 2");
    EXPECT_EQ(text("log.csv"), first) << "there was nothing to train";
    run_well(resume + " --epochs 4");
    EXPECT_TRUE(text("log.csv").starts_with(first));
    EXPECT_EQ(without_speed(text("log.csv")), whole);
    write("log.csv", text("log.csv") + "5,1");  // the killed training got further
    run_well(resume + " --epochs 4");
    EXPECT_EQ(without_speed(text("log.csv")), whole);
  }
}

TEST_F(Train, LeavesTheLogOfAnotherTrainingAlone) {
  make_input("digits.h5");
  run_well(short_training + " --csv log.csv --epochs 1");
  const std::string one = text("log.csv");
  const std::string checkpoint = ", but the checkpoint digits.h5 is of epoch 2, step 6";
  for (const auto& [log, what] :
       Sayings{{one, "its rows lead to epoch 1, step 3" + checkpoint},
               {one + "2,5,1,1,1,1,,\n3,9,1,1,1,1,,\n", "rows lead to epoch 2, step 5" + checkpoint},
               {"a,b\n1,2\n", "its first line is not that of a training's log"},
               {one + "\n2,6,1\n", "it has a row without epoch and step"}}) {
    write("log.csv", log);
    expect_failure("stage01_serial train --resume digits.h5 --epochs 3 --csv log.csv", 1,
                   what + "; choose another name for --csv");
  }
  run_well(short_training + " --epochs 1 --csv log.csv");
  EXPECT_EQ(without_speed(text("log.csv")), without_speed(one)) << "a new training has a new log";
}

// --------------------------------------------------------------------------------- the best epoch

// A rate with which accuracy goes up and down.
const std::string wavering = short_training + " --validation 20 --learning-rate 0.8 ";

TEST_F(Train, KeepsTheBestEpoch) {
  const std::string output = run_well(wavering + "--epochs 6 --save last.h5 --save-best best.h5 --report report.json");
  const json report = json::parse(text("report.json"));
  const auto merit = [](const json& epoch) {
    return std::pair(epoch.at("validation_accuracy").get<double>(), -epoch.at("validation_loss").get<double>());
  };
  const json& epochs = report.at("epochs");
  const json& best = *std::max_element(epochs.begin(), epochs.end(),
                                       [&](const json& a, const json& b) { return merit(a) < merit(b); });
  EXPECT_EQ(report.at("best_epoch"), best.at("epoch"));
  EXPECT_EQ(load_checkpoint(path("best.h5")).epoch, best.at("epoch"));
  const std::string number = best.at("epoch").dump();
  EXPECT_NE(number, "6") << "choose numbers that do not end with the best";
  expect_contains(output, "\nbest   epoch " + number + ", on the validation set: loss ");
  EXPECT_TRUE(output.ends_with("\nsaved  last.h5\nsaved  best.h5, after epoch " + number + "\n")) << output;
}

TEST_F(Train, RemembersTheBestEpochWhenItResumes) {
  run_well(wavering + "--save-best whole_best.h5 --epochs 6 --save whole.h5");
  run_well(wavering + "--save-best best.h5 --epochs 2 --save part.h5");
  for (const std::string epochs : {"3", "4", "5", "6"}) {  // not all are better than before
    run_well("stage01_serial train --resume part.h5 --save part.h5 --save-best best.h5 --epochs " + epochs);
  }
  for (const auto& [whole, part] : Sayings{{"whole.h5", "part.h5"}, {"whole_best.h5", "best.h5"}}) {
    Checkpoint a = load_checkpoint(path(whole));
    Checkpoint b = load_checkpoint(path(part));
    b.settings["epochs"] = a.settings["epochs"];  // each run has had its own
    EXPECT_EQ(a.epoch, b.epoch) << whole;
    EXPECT_EQ(a.settings, b.settings) << whole;
    expect_same(whole, part);
  }
  Checkpoint damaged = load_checkpoint(path("part.h5"));
  damaged.settings["best-epoch"] = "77";
  save_checkpoint(path("damaged.h5"), damaged);
  expect_failure("stage01_serial train --resume damaged.h5 --epochs 7", 1,
                 "the checkpoint damaged.h5 is of no use: of its best epoch, '77' is not a whole "
                 "number from 1 to 6");
}

}  // namespace
}  // namespace stagewise
