// `train` as it should go.

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"
#include "verify/compare.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The last number of the line "test   loss 0.1  accuracy 0.9  (...)".
double test_accuracy(const std::string& output) {
  return std::stod(between(output.substr(output.find("\ntest ")), "accuracy ", " "));
}

class Train : public CommandLine {
 protected:
  /// Runs a training with --report.
  json report_of(const std::string& command) {
    run_well(command + " --report report.json");
    return json::parse(text("report.json"));
  }

  void write(const std::string& name, const std::string& contents) {
    std::ofstream(path(name), std::ios::binary) << contents;
  }

  Checkpoint checkpoint_of(const std::string& command) {
    run_well(command + " --save saved.h5");
    return load_checkpoint(path("saved.h5"));
  }
};

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

TEST_F(Train, LearnsDigitsWithoutAnyOption) {
  const std::string output = run_well("stage01_serial train");
  const std::vector<std::string> lines = lines_of(output);
  ASSERT_EQ(lines.size(), 9U) << output;
  EXPECT_TRUE(lines[0].starts_with("stage01_serial on CPU (")) << lines[0];
  EXPECT_EQ(lines[1],
            "data   digits: 10,000 training and 2,000 test images of 28x28x1, 10 classes");
  EXPECT_EQ(lines[2], "model  mlp 784-256-10, relu, cross-entropy, float, 203,530 parameters");
  const std::regex epoch(
      R"(epoch [1-5]/5  loss 0\.\d{6}  accuracy 0\.\d{4}  \S+ m?s  [\d,.]+( [kM])? images/s)");
  for (std::size_t i = 3; i < 8; ++i) {
    EXPECT_TRUE(std::regex_match(lines[i], epoch)) << lines[i];
    EXPECT_LE(lines[i].size(), 80U) << lines[i];
  }
  const std::regex test(R"(test   loss 0\.\d{6}  accuracy 0\.\d{4}  \([\d,]+ of 2,000\))");
  EXPECT_TRUE(std::regex_match(lines[8], test)) << lines[8];
  EXPECT_GT(test_accuracy(output), 0.93);
  EXPECT_LT(test_accuracy(output), 0.995);
}

TEST_F(Train, ReportsWhatTheContractSays) {
  const json report = report_of(short_training + " --epochs 3 --seed 7 --timings");
  EXPECT_EQ(keys_of(report),
            (std::set<std::string>{"stage", "device", "cuda_on_cpu", "command", "model", "dataset",
                                   "precision", "batch_size", "seed", "epochs", "test_loss",
                                   "test_accuracy", "timings", "peak_memory_bytes"}));
  EXPECT_EQ(report.at("stage"), "stage01_serial");
  EXPECT_TRUE(report.at("device").get<std::string>().starts_with("CPU ("));
  EXPECT_EQ(report.at("cuda_on_cpu"), false);
  const auto command = report.at("command").get<std::string>();  // its folder may take quotes
  EXPECT_TRUE(std::regex_search(command, std::regex("stage01_serial'? train --train-limit 60")))
      << command;
  EXPECT_EQ(report.at("model"), "mlp 784-8-10, relu, cross-entropy");
  EXPECT_EQ(report.at("dataset"), "digits");
  EXPECT_EQ(report.at("precision"), "float");
  EXPECT_EQ(report.at("batch_size"), 20);
  EXPECT_EQ(report.at("seed"), 7);
  EXPECT_GT(report.at("peak_memory_bytes"), 1'000'000);

  ASSERT_EQ(report.at("epochs").size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const json& epoch = report.at("epochs").at(i);
    EXPECT_EQ(keys_of(epoch), (std::set<std::string>{"epoch", "train_loss", "train_accuracy",
                                                     "seconds", "images_per_second"}));
    EXPECT_EQ(epoch.at("epoch"), i + 1);
    EXPECT_GT(epoch.at("train_loss"), 0);
    EXPECT_LT(epoch.at("train_loss"), 10);
    const double correct = 60 * epoch.at("train_accuracy").get<double>();
    EXPECT_NEAR(correct, std::round(correct), 1e-9) << "an accuracy is a fraction of counts";
    const double seconds = epoch.at("seconds");
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(epoch.at("images_per_second"), 60 / seconds, 1e-6 * 60 / seconds);
  }
  EXPECT_LT(report.at("epochs").at(2).at("train_loss"), report.at("epochs").at(0).at("train_loss"));
  EXPECT_GT(report.at("test_loss"), 0);
  const double correct = 20 * report.at("test_accuracy").get<double>();
  EXPECT_NEAR(correct, std::round(correct), 1e-9);

  ASSERT_GT(report.at("timings").size(), 4U);
  for (const json& row : report.at("timings")) {
    EXPECT_EQ(keys_of(row),
              (std::set<std::string>{"operation", "calls", "forward_seconds", "backward_seconds"}));
    EXPECT_EQ(row.at("calls"), 9) << row;  // 3 epochs of 3 steps
    const double forward = row.at("forward_seconds");
    const double backward = row.at("backward_seconds");
    EXPECT_GT(forward + backward, 0) << row;
    EXPECT_EQ(forward * backward, 0) << "a line is on the way forward, or back: " << row;
  }
}

TEST_F(Train, ReportsNoTimingsUnlessAsked) {
  EXPECT_EQ(report_of(short_training).at("timings"), json::array());
}

TEST_F(Train, ReportsACommandThatAShellUnderstands) {
  const json report =
      report_of("stage01_serial train --train-limit 20 --test-limit 5 --batch-size 5 --save a*b");
  EXPECT_TRUE(
      report.at("command").get<std::string>().ends_with("--save 'a*b' --report report.json"))
      << report.at("command");
}

TEST_F(Train, PrintsATableOfTimings) {
  const std::string output = run_well(short_training + " --epochs 1 --timings");
  const std::vector<std::string> lines = lines_of(output.substr(output.find("\nline ") + 1));
  ASSERT_GE(lines.size(), 7U) << output;
  double share = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_LE(lines[i].size(), 80U) << lines[i];
    if (i == 0 || !lines[i].ends_with(" %")) continue;
    EXPECT_EQ(lines[i].size(), lines[1].size()) << "columns are not aligned:\n" << output;
    share += std::stod(lines[i].substr(lines[i].size() - 8));
  }
  EXPECT_NEAR(share, 100, 0.5) << output;
  EXPECT_NE(output.find("\ngemm  batch, fc1/weight -> fc1/product "), std::string::npos) << output;
  EXPECT_NE(output.find("\ngemm  fc1/output, d fc2/output -> d fc2/weight "), std::string::npos)
      << output;
}

TEST_F(Train, TimesWhatWorkersDo) {
  const auto rows_of = [&](const std::string& average) {
    std::map<std::string, int> calls;
    const json report =
        report_of(short_training + " --epochs 2 --workers 4 --timings --average " + average);
    for (const json& row : report.at("timings")) {
      calls[row.at("operation").get<std::string>()] = row.at("calls");
      const double forward = row.at("forward_seconds");
      EXPECT_GT(forward + row.at("backward_seconds").get<double>(), 0) << row;
    }
    return calls;
  };
  std::map<std::string, int> gradients = rows_of("gradients");  // 6 steps of 4 workers
  EXPECT_EQ(gradients["gather  features, labels, order@3 -> batch@3, batch labels@3"], 6);
  EXPECT_EQ(gradients["sum  d fc2/bias@0, d fc2/bias@1, d fc2/bias@2, d fc2/bias@3 -> d fc2/bias"],
            6);
  EXPECT_EQ(gradients["sgd_update  d fc2/bias, fc2/bias -> fc2/bias"], 6);
  std::map<std::string, int> weights = rows_of("weights --average-every 2");
  EXPECT_EQ(weights["gather  features, labels, order@3 -> batch@3, batch labels@3"], 6);
  EXPECT_EQ(weights["copy  fc2/bias -> fc2/bias@3"], 3);  // every second step
  EXPECT_EQ(weights["mean  fc2/bias@0, fc2/bias@1, fc2/bias@2, fc2/bias@3 -> fc2/bias"],
            5);  // and at the end of each epoch
  EXPECT_EQ(weights["sgd_update  d fc2/bias@3, fc2/bias@3 -> fc2/bias@3"], 6);
}

TEST_F(Train, SaysHowWorkersShareTheWork) {
  const auto line_of = [&](const std::string& options) {
    const std::vector<std::string> lines = lines_of(run_well(short_training + options));
    return lines.at(3).starts_with("workers") ? lines[3] : "";
  };
  EXPECT_EQ(line_of(""), "");
  EXPECT_EQ(line_of(" --workers 1"), "");
  EXPECT_EQ(line_of(" --workers 4"), "workers  4, averaging gradients in every step");
  EXPECT_EQ(line_of(" --workers 2 --average weights"),
            "workers  2, averaging weights in every step");
  EXPECT_EQ(line_of(" --workers 2 --average weights --average-every 3 --save a.h5"),
            "workers  2, averaging weights every 3 steps");
  const std::string output =
      run_well("stage01_serial train --resume a.h5 --epochs 6 --average weights --average-every 3");
  EXPECT_NE(output.find("\nworkers  2, averaging weights every 3 steps\n"), std::string::npos)
      << output;
}

TEST_F(Train, CountsAsPeopleDo) {
  const std::string output =
      run_well("stage01_serial train --dataset step --train-limit 1000 --test-limit 1 --epochs 1");
  EXPECT_NE(
      output.find("\ndata   step: 1,000 training and 1 test sample of 1 feature, 2 classes\n"),
      std::string::npos)
      << output;
}

TEST_F(Train, HoldsValidationSamplesOut) {
  const std::string command = short_training + " --epochs 2 --validation 20";
  const json report = report_of(command);
  ASSERT_EQ(report.at("epochs").size(), 2U);
  for (const json& epoch : report.at("epochs")) {
    const double correct = 20 * epoch.at("validation_accuracy").get<double>();
    EXPECT_NEAR(correct, std::round(correct), 1e-9);
    EXPECT_GT(epoch.at("validation_loss"), 0);
  }
  const std::string output = run_well(command);
  EXPECT_NE(output.find("digits: 40 training and 20 test images"), std::string::npos) << output;
  EXPECT_NE(output.find("  val 0."), std::string::npos) << output;
}

TEST_F(Train, ValidationSamplesAreTheLast) {
  const std::string small = "stage01_serial train --test-limit 10 --hidden 8 --batch-size 20";
  const Checkpoint held_out = checkpoint_of(small + " --train-limit 60 --validation 20");
  const Checkpoint limited = checkpoint_of(small + " --train-limit 40");
  EXPECT_EQ(largest_difference(compare_parameters(held_out.parameters, limited.parameters)), 0);
}

TEST_F(Train, UsesTheFirstTestSamples) {
  const std::string output = run_well(short_training + " --epochs 1");
  EXPECT_NE(output.find("digits: 60 training and 20 test images"), std::string::npos) << output;
  EXPECT_NE(output.find(" of 20)\n"), std::string::npos) << output;
}

TEST_F(Train, BuildsTheLayersThatAreAskedFor) {
  const std::string small =
      "stage01_serial train --train-limit 20 --test-limit 10 --batch-size 20 ";
  const std::string none = run_well(small + "--epochs 1 --hidden none");
  EXPECT_NE(none.find("model  mlp 784-10, cross-entropy, float, 7,850 parameters\n"),
            std::string::npos)
      << none;
  const Checkpoint deep = checkpoint_of(small + "--epochs 1 --hidden 4,3,5");
  std::vector<std::string> shapes;
  for (const ParameterValues& parameter : deep.parameters) {
    shapes.push_back(parameter.name + " " + parameter.shape.to_string());
  }
  EXPECT_EQ(shapes,
            (std::vector<std::string>{"fc1/bias [4]", "fc1/weight [784, 4]", "fc2/bias [3]",
                                      "fc2/weight [4, 3]", "fc3/bias [5]", "fc3/weight [3, 5]",
                                      "fc4/bias [10]", "fc4/weight [5, 10]"}));
}

TEST_F(Train, ComputesInDoubleIfAsked) {
  const Checkpoint narrow = checkpoint_of(short_training);
  const Checkpoint wide = checkpoint_of(short_training + " --precision double");
  EXPECT_EQ(narrow.precision, "float");
  EXPECT_EQ(wide.precision, "double");
  const double difference =
      largest_difference(compare_parameters(narrow.parameters, wide.parameters));
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 1e-3);
}

TEST_F(Train, SavesWhereTrainingStands) {
  const Checkpoint checkpoint = checkpoint_of(short_training + " --epochs 3 --seed 9");
  EXPECT_EQ(checkpoint.model, "mlp");
  EXPECT_EQ(checkpoint.seed, 9U);
  EXPECT_EQ(checkpoint.epoch, 3);
  EXPECT_EQ(checkpoint.step, 9);
  EXPECT_EQ(checkpoint.settings.at("hidden"), "8");
  EXPECT_EQ(checkpoint.settings.at("batch-size"), "20");
}

TEST_F(Train, SavesInitialParametersWithoutAnEpoch) {
  const Checkpoint checkpoint = checkpoint_of(short_training + " --epochs 0");
  EXPECT_EQ(checkpoint.epoch, 0);
  EXPECT_EQ(checkpoint.step, 0);
  for (const ParameterValues& parameter : checkpoint.parameters) {
    double sum = 0;
    for (const double value : parameter.values) sum += std::abs(value);
    if (parameter.name.ends_with("bias")) {
      EXPECT_EQ(sum, 0) << parameter.name;
    } else {
      EXPECT_GT(sum, 0) << parameter.name;
    }
  }
}

TEST_F(Train, StartsFromLoadedParameters) {
  run_well(short_training + " --epochs 0 --save start.h5");
  run_well(short_training + " --epochs 2 --save direct.h5");
  run_well(short_training + " --epochs 2 --load start.h5 --save loaded.h5");
  EXPECT_EQ(read_file(path("loaded.h5")), read_file(path("direct.h5")));

  // The seed now decides the order only, and --load says what the network is.
  run_well(short_training + " --epochs 0 --seed 5 --load start.h5 --save again.h5");
  run_well("compare_checkpoints --tolerance 0 again.h5 start.h5");
  run_well("stage01_serial train --epochs 0 --load double.h5 --save again.h5");
  run_well("compare_checkpoints --tolerance 0 again.h5 double.h5");
}

TEST_F(Train, StartsFromParametersOfAnotherProject) {
  run_well("stage01_serial train --load other.h5 --hidden 8 --epochs 0 --save again.h5");
  run_well("compare_checkpoints --tolerance 0 again.h5 digits.h5");
}

TEST_F(Train, EveryFormOfTheMatrixProductLearnsTheSame) {
  const Checkpoint reordered = checkpoint_of(short_training + " --precision double");
  for (const std::string form : {"naive", "blas"}) {
    const Checkpoint other = checkpoint_of(short_training + " --precision double --gemm " + form);
    EXPECT_LE(largest_difference(compare_parameters(other.parameters, reordered.parameters)), 1e-10)
        << form;
  }
}

TEST_F(Train, ReadsFilesOfMakeDataset) {
  make_input("digits");
  const std::string small = "stage01_serial train --hidden 8 --batch-size 10 --epochs 2 ";
  const std::string file = "--format idx --dataset digits/train-images-idx3-ubyte";
  const std::string output = run_well(small + file);
  EXPECT_NE(output.find("40 training and 10 test images of 28x28x1, 10 classes"), std::string::npos)
      << output;

  // These files hold what the generator makes: training cannot tell the difference.
  run_well(small + file + " --save file.h5");
  run_well(small + "--train-limit 40 --test-limit 10 --save memory.h5");
  run_well("compare_checkpoints --tolerance 0 file.h5 memory.h5");
}

class DataFolder : public Train {
 protected:
  DataFolder() {
    run_well("make_dataset --train 40 --test 10 --output here/mnist");
    run_well("make_dataset --train 80 --test 10 --output there/mnist");
  }

  const std::string command =
      "stage01_serial train --dataset mnist --hidden 8 --batch-size 10 --epochs 1";
};

TEST_F(DataFolder, IsNamedByTheOptionElseTheVariable) {
  EXPECT_NE(run_well(command + " --data-dir here").find("mnist: 40 training"), std::string::npos);
  surroundings_.variables["STAGEWISE_DATA_DIR"] = "there";
  EXPECT_NE(run_well(command).find("mnist: 80 training"), std::string::npos);
  EXPECT_NE(run_well(command + " --data-dir here").find("mnist: 40 training"), std::string::npos);
  surroundings_.variables["STAGEWISE_DATA_DIR"] = "";
  fs::rename(path("here"), path("datasets"));
  EXPECT_NE(run_well(command).find("mnist: 40 training"), std::string::npos);
}

TEST_F(DataFolder, MayHoldCompressedFiles) {
  run_well(command + " --data-dir here --save plain.h5");
  const std::string gzip = "/bin/gzip";
  if (!fs::exists(gzip)) GTEST_SKIP() << "there is no " << gzip;
  for (const auto& entry : fs::directory_iterator(path("here/mnist"))) {
    ASSERT_EQ(run({gzip, entry.path().string()}).exit_code, 0);
  }
  run_well(command + " --data-dir here --save compressed.h5");
  EXPECT_EQ(read_file(path("compressed.h5")), read_file(path("plain.h5")));

  // Compressed, but under the name of a plain file.
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path("here/mnist"))) files.push_back(entry);
  for (const fs::path& file : files) {
    fs::path plain = file;
    fs::rename(file, plain.replace_extension());
  }
  run_well(command + " --data-dir here --save disguised.h5");
  EXPECT_EQ(read_file(path("disguised.h5")), read_file(path("plain.h5")));
}

TEST_F(Train, LearnsTheStep) {
  const std::string output = run_well("stage01_serial train --model neuron --dataset step");
  EXPECT_NE(output.find("model  neuron 1-1, sigmoid, squared-error, float, 2 parameters\n"),
            std::string::npos)
      << output;
  EXPECT_GE(test_accuracy(output), 0.97) << output;
}

TEST_F(Train, ResumesANeuronWithWhatItIsWrittenOut) {
  make_input("neuron.h5");
  const Checkpoint checkpoint = load_checkpoint(path("neuron.h5"));
  EXPECT_EQ(checkpoint.settings.at("activation"), "sigmoid");
  EXPECT_EQ(checkpoint.settings.at("loss"), "squared-error");
  run_well(
      "stage01_serial train --model neuron --dataset step --resume neuron.h5 --epochs 3 "
      "--activation sigmoid --loss squared-error");
}

TEST_F(Train, LogsEveryKSteps) {
  const std::string command = short_training + " --validation 10 --epochs 2 --log-every 2";
  const json report = report_of(command + " --csv log.csv");
  ASSERT_EQ(report.at("steps").size(), 4U);  // 50 samples in steps of 20
  const std::vector<std::string> rows = lines_of(text("log.csv"));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0],
            "epoch,step,loss,accuracy,learning_rate,images_per_second,validation_loss,"
            "validation_accuracy");
  for (std::size_t i = 0; i < 4; ++i) {
    const json& step = report.at("steps").at(i);
    const json& epoch = report.at("epochs").at(i / 2);
    EXPECT_EQ(keys_of(step), (std::set<std::string>{"epoch", "step", "loss", "accuracy",
                                                    "learning_rate", "images_per_second"}));
    EXPECT_EQ(step.at("epoch"), i / 2 + 1);
    EXPECT_EQ(step.at("step"), std::vector<int>({2, 3, 5, 6})[i]);
    EXPECT_TRUE(
        rows[i + 1].starts_with(step.at("epoch").dump() + "," + step.at("step").dump() + ","))
        << rows[i + 1];
    EXPECT_EQ(rows[i + 1].ends_with(",,"), i % 2 == 0) << "validation is at an epoch's end";
    if (i % 2 == 0) continue;
    EXPECT_TRUE(rows[i + 1].ends_with("," + epoch.at("validation_accuracy").dump())) << rows[i + 1];
    const auto loss_of = [&](std::size_t j) {
      return report.at("steps").at(j).at("loss").get<double>();
    };
    EXPECT_NEAR((40 * loss_of(i - 1) + 10 * loss_of(i)) / 50, epoch.at("train_loss").get<double>(),
                1e-6);
  }
  const std::regex line(
      R"(step \d  loss \d\.\d{6}  accuracy 0\.\d{4}  rate 0\.15  [\d,.]+( [kM])? images/s)");
  int count = 0;
  for (const std::string& said : lines_of(run_well(command))) {
    if (std::regex_match(said, line)) ++count;
  }
  EXPECT_EQ(count, 4);
}

/// Less than chance after an epoch is progress, more is a rate that is too high.
TEST_F(Train, SaysWhereTheRateIsTooHigh) {
  const auto output_of = [&](const std::string& options) {
    return run_well("stage01_serial train --test-limit 20 --epochs 1 " + options);
  };
  const auto has_note = [](const std::string& output) {
    return output.find(
               "\nnote   the loss of the first epoch is above 2.30, that of a guess: a "
               "learning rate smaller than ") != std::string::npos;
  };
  const std::string few = "--train-limit 1000 ";
  for (const std::string& options :
       {few, few + "--workers 4", few + "--optimizer momentum", few + "--optimizer adam",
        few + "--batch-size 20 --schedule cosine", std::string("--batch-size 1000")}) {
    const std::string output = output_of(options);
    EXPECT_FALSE(has_note(output)) << output;
    EXPECT_LT(std::stod(between(output, "epoch 1/1  loss ", "  accuracy")), 2.3) << options;
  }
  EXPECT_TRUE(has_note(output_of(few + "--learning-rate 0.5")));
  EXPECT_FALSE(has_note(output_of(few + "--activation sigmoid"))) << "it is too low";
  EXPECT_FALSE(has_note(output_of(few + "--l2 10 --learning-rate 0.001"))) << "l2 is no loss";
}

TEST_F(Train, LogsEpochsUnlessAskedForSteps) {
  const json report = report_of(short_training + " --epochs 2 --csv log.csv");
  EXPECT_FALSE(report.contains("steps"));
  EXPECT_FALSE(report.contains("best_epoch"));
  const std::vector<std::string> rows = lines_of(text("log.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[1].starts_with("1,3,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("2,6,")) << rows[2];
  EXPECT_TRUE(rows[2].ends_with(",,")) << rows[2];
}

/// The rows of a log without the column with the speed.
std::vector<std::string> without_speed(const std::string& log) {
  std::vector<std::string> rows;
  for (const std::string& row : lines_of(log)) {
    std::size_t begin = 0;
    for (int i = 0; i < 5; ++i) begin = row.find(',', begin) + 1;
    rows.push_back(row.substr(0, begin) + row.substr(row.find(',', begin)));
  }
  return rows;
}

TEST_F(Train, ContinuesTheLogOfWhatItResumes) {
  for (const std::string& more : std::vector<std::string>{"", " --log-every 2"}) {
    const std::string logged = " --csv log.csv --validation 10" + more;
    run_well(short_training + logged + " --epochs 4");
    const std::vector<std::string> whole = without_speed(text("log.csv"));
    run_well(short_training + logged + " --epochs 2 --save a.h5");
    const std::string first = text("log.csv");
    const std::string resume = "stage01_serial train --resume a.h5 --csv log.csv" + more;
    run_well(resume + " --epochs 2");
    EXPECT_EQ(text("log.csv"), first) << "there was nothing to train";
    run_well(resume + " --epochs 4");
    const std::string second = text("log.csv");
    EXPECT_TRUE(second.starts_with(first)) << second;
    EXPECT_EQ(without_speed(second), whole);
    write("log.csv", second + "5,1");  // the killed training got further than its checkpoint
    run_well(resume + " --epochs 4");
    EXPECT_TRUE(text("log.csv").starts_with(first));
    EXPECT_EQ(without_speed(text("log.csv")), whole);
    write("log.csv", "");
    run_well(resume + " --epochs 4");
    EXPECT_EQ(lines_of(text("log.csv")).size(), 1 + whole.size() - lines_of(first).size());
  }
}

TEST_F(Train, LeavesTheLogOfAnotherTrainingAlone) {
  run_well(short_training + " --epochs 2 --save a.h5");
  const std::string resume = "stage01_serial train --resume a.h5 --epochs 3 --csv log.csv";
  const auto expect_refused = [&](const std::string& log, const std::string& what) {
    write("log.csv", log);
    expect_failure(
        resume, 1,
        "the table log.csv cannot be continued: " + what + "; choose another name for --csv");
    EXPECT_EQ(text("log.csv"), log);
  };
  run_well(short_training + " --csv log.csv --epochs 1");
  const std::string one = text("log.csv");
  const std::string checkpoint = ", but the checkpoint a.h5 is of epoch 2, step 6";
  expect_refused(one, "its rows lead to epoch 1, step 3" + checkpoint);
  expect_refused(one + "2,5,1,1,1,1,,\n3,9,1,1,1,1,,\n",
                 "its rows lead to epoch 2, step 5" + checkpoint);
  expect_refused("a,b\n1,2\n", "its first line is not that of a training's log");
  expect_refused(one + "\n2,6,1\n", "it has a row without epoch and step");
  run_well(short_training + " --epochs 1 --csv log.csv");
  EXPECT_EQ(without_speed(text("log.csv")), without_speed(one)) << "a new training has a new log";
}

TEST_F(Train, LearnsTheSameWhileLogging) {
  const Checkpoint silent = checkpoint_of(short_training + " --epochs 2");
  const Checkpoint logged = checkpoint_of(short_training + " --epochs 2 --log-every 1");
  ASSERT_EQ(silent.parameters.size(), logged.parameters.size());
  for (std::size_t i = 0; i < silent.parameters.size(); ++i) {
    EXPECT_EQ(silent.parameters[i].values, logged.parameters[i].values);
  }
}

TEST_F(Train, KeepsTheBestEpoch) {
  // A rate with which accuracy goes up and down.
  const std::string command =
      short_training + " --validation 20 --learning-rate 0.8 --epochs 6 --save last.h5";
  const json report = report_of(command + " --save-best best.h5");
  const json* best = nullptr;
  for (const json& epoch : report.at("epochs")) {
    const bool is_better = best == nullptr ||
                           epoch.at("validation_accuracy") > best->at("validation_accuracy") ||
                           (epoch.at("validation_accuracy") == best->at("validation_accuracy") &&
                            epoch.at("validation_loss") < best->at("validation_loss"));
    if (is_better) best = &epoch;
  }
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(report.at("best_epoch"), best->at("epoch"));
  const Checkpoint saved = load_checkpoint(path("best.h5"));
  EXPECT_EQ(saved.epoch, best->at("epoch"));
  const std::string number = best->at("epoch").dump();
  const std::string output = run_well(command + " --save-best best.h5");
  EXPECT_NE(output.find("\nbest   epoch " + number + ", on the validation set: loss "),
            std::string::npos)
      << output;
  EXPECT_TRUE(output.ends_with("\nsaved  last.h5\nsaved  best.h5, after epoch " + number + "\n"))
      << output;
}

TEST_F(Train, RemembersTheBestEpochWhenItResumes) {
  const std::string command = short_training + " --validation 20 --learning-rate 0.8 --save-best ";
  run_well(command + "whole_best.h5 --epochs 6 --save whole.h5");
  run_well(command + "best.h5 --epochs 2 --save part.h5");
  for (int epoch = 3; epoch <= 6; ++epoch) {  // at least one of them is no better than before
    run_well("stage01_serial train --resume part.h5 --save part.h5 --save-best best.h5 --epochs " +
             std::to_string(epoch));
  }
  const auto best_of = [&](const std::string& file) {
    Checkpoint checkpoint = load_checkpoint(path(file));
    checkpoint.settings.erase("epochs");  // each run has had its own
    return checkpoint;
  };
  for (const auto& [whole, part] :
       std::map<std::string, std::string>{{"whole.h5", "part.h5"}, {"whole_best.h5", "best.h5"}}) {
    const Checkpoint a = best_of(whole);
    const Checkpoint b = best_of(part);
    EXPECT_EQ(a.epoch, b.epoch) << whole;
    EXPECT_EQ(a.settings, b.settings) << whole;
    for (std::size_t i = 0; i < a.parameters.size(); ++i) {
      EXPECT_EQ(a.parameters[i].values, b.parameters[i].values) << whole;
    }
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
