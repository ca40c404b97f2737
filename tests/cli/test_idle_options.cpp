// No option without effect: each of every command changes something, and is refused where it does
// not.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

const std::string tiny_data = " --dataset gaussian --samples 40 --features 4 ";
const std::string tiny = tiny_data + "--classes 3 --hidden 4 --batch-size 10 --epochs 1 ";
const std::string tiny_images =
    " --train-limit 10 --test-limit 5 --batch-size 5 --epochs 1 --hidden 4 ";
const std::string tiny_cnn =
    " --model cnn --train-limit 4 --test-limit 2 --batch-size 2 --epochs 1 ";

/// What an option changes: two commands whose results differ because of it. Where `without` is
/// empty, it is shown elsewhere, where `shown` says.
struct Effect {
  std::string option;
  std::string without;
  std::string with;
  std::string shown = {};
};

const std::vector<Effect> effects_in_training = {
    {"dataset", "--train-limit 30 --test-limit 5 --batch-size 5 --hidden 4 --epochs 1",
     "--train-limit 30 --test-limit 5 --batch-size 5 --hidden 4 --epochs 1 --dataset step"},
    {"format", "", "", "test_train.cpp"},
    {"data-dir", "", "", "test_train.cpp"},
    {"label", "", "", "test_train.cpp"},
    {"test-limit", tiny, tiny + "--test-limit 3"},
    {"train-limit", tiny, tiny + "--train-limit 20"},
    {"validation", tiny, tiny + "--validation 10"},
    {"features", tiny_data + "--batch-size 10 --epochs 1",
     "--dataset gaussian --samples 40 --features 5 --batch-size 10 --epochs 1"},
    {"classes", tiny_data + "--batch-size 10 --epochs 1",
     tiny_data + "--batch-size 10 --epochs 1 --classes 5"},
    {"samples", tiny,
     "--dataset gaussian --samples 50 --features 4 --classes 3 --hidden 4 "
     "--batch-size 10 --epochs 1"},
    {"spacing", tiny, tiny + "--spacing 3"},
    {"deviation", tiny, tiny + "--deviation 3"},
    {"model", tiny_images,
     " --train-limit 10 --test-limit 5 --batch-size 5 --epochs 1 --model cnn"},
    {"hidden", tiny_data + "--batch-size 10 --epochs 1",
     tiny_data + "--batch-size 10 --epochs 1 --hidden 3"},
    {"activation", tiny, tiny + "--activation sigmoid"},
    {"loss", tiny, tiny + "--loss squared-error"},
    {"biases", tiny, tiny + "--biases off"},
    {"precision", tiny, tiny + "--precision double"},
    {"batch-size", tiny_data + "--epochs 1 --batch-size 10",
     tiny_data + "--epochs 1 --batch-size 20"},
    {"epochs", tiny_data + "--batch-size 10 --epochs 1", tiny_data + "--batch-size 10 --epochs 2"},
    {"learning-rate", tiny, tiny + "--learning-rate 0.5"},
    {"l2", tiny, tiny + "--l2 0.1"},
    {"optimizer", tiny, tiny + "--optimizer momentum"},
    {"momentum", tiny + "--optimizer momentum", tiny + "--optimizer momentum --momentum 0.5"},
    {"beta1", tiny + "--optimizer adam", tiny + "--optimizer adam --beta1 0.5"},
    {"beta2", tiny + "--optimizer adam", tiny + "--optimizer adam --beta2 0.5"},
    {"epsilon", tiny + "--optimizer adam", tiny + "--optimizer adam --epsilon 0.1"},
    {"schedule", tiny, tiny + "--schedule cosine"},
    {"warmup", tiny, tiny + "--warmup 2"},
    {"seed", tiny, tiny + "--seed 2"},
    {"shuffle", tiny, tiny + "--shuffle off"},
    {"workers", tiny, tiny + "--workers 2"},
    {"average", tiny + "--workers 2", tiny + "--workers 2 --average weights"},
    {"average-every", tiny + "--workers 2 --average weights",
     tiny + "--workers 2 --average weights --average-every 2"},
    {"load", "", "", "test_train.cpp"},
    {"save", "", "", "here: it is read"},
    {"save-every", "", "", "test_outputs.cpp"},
    {"save-best", "", "", "test_train.cpp"},
    {"resume", "", "", "test_reproducible.cpp"},
    {"report", "", "", "here: it is read"},
    {"csv", "", "", "test_train.cpp"},
    {"log-every", "", "", "test_train.cpp"},
    {"timings", tiny, tiny + "--timings"},
    {"explain", tiny, tiny + "--explain"},
    // Of single stages. What changes speed alone is in the checkpoint.
    {"gemm", tiny, tiny + "--gemm %"},
    {"block-size", tiny, tiny + "--block-size 8"},
    {"memory", tiny, tiny + "--memory per-step"},
    {"reduce", tiny, tiny + "--reduce shuffles"},
    {"convolution", tiny_cnn, tiny_cnn + "--convolution direct"},
    {"fold-bias", tiny, tiny + "--fold-bias"},
    {"stream-batches", tiny, tiny + "--stream-batches"},
    {"gather", tiny, tiny + "--gather kernel"},
    {"fuse", tiny, tiny + "--fuse off"},
    {"math", tiny_cnn, tiny_cnn + "--math tf32"},
    {"persistent", tiny, tiny + "--persistent on"},
    {"capture", tiny, tiny + "--capture off"},
    // Of several processes.
    {"strategy", "", "", "test_stage05.cpp"},
    {"transport", "", "", "test_stage05.cpp"},
    {"tensor-ranks", "", "", "test_stage05.cpp"},
    {"timeout", "", "", "test_stage05.cpp"},
    {"no-overlap", "", "", "test_stage05.cpp"},
    {"data-from", "", "", "test_stage05.cpp"},
};

/// What there is besides in the other commands.
const std::map<std::string, std::set<std::string>> shown_elsewhere = {
    {"evaluate",  // see CommandLine's and the stages' tests of evaluate
     {"dataset", "format",  "data-dir",  "label",      "test-limit", "features",    "classes",
      "samples", "spacing", "deviation", "model",      "precision",  "load",        "batch-size",
      "latency", "report",  "gemm",      "block-size", "reduce",     "convolution", "fold-bias",
      "fuse",    "math",    "data-from", "confusion",  "csv",        "mistakes"}},
    {"predict",  // see test_predict.cpp
     {"dataset", "format",  "data-dir",  "label",      "test-limit", "features",    "classes",
      "samples", "spacing", "deviation", "model",      "precision",  "load",        "batch-size",
      "image",   "report",  "gemm",      "block-size", "reduce",     "convolution", "fold-bias",
      "fuse",    "math",    "data-from", "background", "csv",        "sample"}},
    {"info",  // see test_info.cpp
     {"program", "model", "precision", "hidden", "activation", "loss", "biases", "batch-size",
      "optimizer", "workers", "average", "fold-bias", "gather", "fuse", "persistent", "strategy",
      "tensor-ranks", "transport", "no-overlap"}},
};

class IdleOptions : public CommandLine, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "stage01_serial") need_device(GetParam());
  }

  /// Names that a line of the help begins with.
  std::set<std::string> options_of(const std::string& command) {
    std::set<std::string> names;
    for (const std::string& line : lines_of(run_well(GetParam() + " " + command + " --help"))) {
      if (!line.starts_with("  --")) continue;
      names.insert(line.substr(4, line.find(' ', 4) - 4));
    }
    return names;
  }

  /// Everything that a training leaves behind, but for times.
  std::string results_of(const std::string& options) {
    run_well(GetParam() + " train " + options + " --save a.h5 --report a.json");
    nlohmann::json report = nlohmann::json::parse(text("a.json"));
    std::string results = text("a.h5");
    for (const char* const key :
         {"model", "dataset", "precision", "batch_size", "test_loss", "test_accuracy"}) {
      results += report.at(key).dump();
    }
    for (const auto& epoch : report.at("epochs")) {
      results += epoch.at("train_loss").dump() + (epoch.contains("validation_accuracy") ? "v" : "");
    }
    for (const auto& row : report.at("timings")) results += row.at("operation").dump();
    return results;
  }
};

TEST_P(IdleOptions, EveryOptionIsInTheTable) {
  for (const auto& [command, known] : shown_elsewhere) {
    const std::string help = run_well(GetParam() + " --help");
    if (help.find("\n  " + command + " ") == std::string::npos) continue;
    for (const std::string& option : options_of(command)) {
      if (option == "help") continue;
      EXPECT_TRUE(known.contains(option)) << command << " --" << option << ": what does it change?";
    }
  }
  for (const std::string& option : options_of("train")) {
    const bool is_known = option == "help" ||
                          std::any_of(effects_in_training.begin(), effects_in_training.end(),
                                      [&](const Effect& known) { return known.option == option; });
    EXPECT_TRUE(is_known) << "train --" << option << ": what does it change?";
  }
}

TEST_P(IdleOptions, EveryOptionOfTrainChangesSomething) {
  if (sanitized) GTEST_SKIP() << "shown by the other builds";
  const bool is_first = GetParam() == "stage01_serial";
  std::map<std::string, std::string> known_results;
  const std::set<std::string> offered = options_of("train");
  for (const Effect& effect : effects_in_training) {
    if (effect.with.empty() || !offered.contains(effect.option)) continue;
    // What all stages share is asked of the first.
    const bool is_own = run_well("stage01_serial train --help").find("--" + effect.option + " ") ==
                        std::string::npos;
    if (!is_first && !is_own && effect.option != "gemm") continue;
    std::string with = effect.with;
    if (with.ends_with('%')) with.replace(with.size() - 1, 1, is_first ? "naive" : "tile-16");
    std::string& before = known_results[effect.without];
    if (before.empty()) before = results_of(effect.without);
    EXPECT_FALSE(results_of(with) == before) << with << " changes nothing";
  }
}

std::vector<std::string> programs() {
  std::vector<std::string> names = {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory",
                                    "stage04_minibatch"};
#ifdef STAGEWISE_STAGE05
  names.emplace_back("stage05_mpi");
#endif
  return names;
}

INSTANTIATE_TEST_SUITE_P(Stages, IdleOptions, testing::ValuesIn(programs()),
                         [](const auto& stage) { return test_name(stage.param); });

/// Commands whose last option has no effect, and what is said about it.
struct Refusal {
  std::string command;
  std::string sentence;
};

const std::string of_neuron =
    " is for --model mlp: a neuron is one sigmoid unit with a squared error";
const std::string one_process =
    " is for several processes, and there is but one: start them with mpirun -n";
const std::string of_data =
    " is for --strategy data: with tensor, several ranks work on the same samples, in step with "
    "each other";

const std::vector<Refusal> refusals = {
    {"stage01_serial train --hidden 0",
     "--hidden: '0' is not a whole number from 1 to 16777216; expected are the widths of the "
     "layers, such as 256,128, or none"},
    {"stage01_serial train --hidden ''",
     "--hidden: '' is no width; expected are the widths of the layers, such as 256,128, or none"},
    {"stage01_serial train --model cnn --hidden 4",
     "--hidden is for --model mlp: the layers of cnn are fixed"},
    {"stage01_serial train --dataset step --model neuron --biases on", "--biases" + of_neuron},
    {"stage01_serial train --features 3", "--features is for --dataset gaussian"},
    {"stage01_serial train --dataset step --deviation 3", "--deviation is for --dataset gaussian"},
    {"stage01_serial train --label x", "--label names a column of a CSV file, but digits is none"},
    {"stage01_serial train --data-dir none",
     "--data-dir is for data sets that are read from there, and digits is generated"},
    {"stage01_serial train --dataset x --format csv --data-dir .",
     "--data-dir is for data sets that are read from there, and x is a path"},
    {"stage01_serial evaluate --load digits.h5 --data-dir none",
     "--data-dir is for data sets that are read from there, and digits is generated"},
    {"stage01_serial train --workers 1 --average weights",
     "--average is for several workers, and there is but one"},
    {"stage01_serial train --average gradients",
     "--average is for several workers, and there is but one"},
    {"stage01_serial train --momentum 0.5", "--momentum is for --optimizer momentum"},
    {"stage01_serial train --optimizer momentum --beta1 0.5", "--beta1 is for --optimizer adam"},
    {"stage01_serial train --optimizer momentum --momentum 1", "--momentum: '1' is not below 1"},
    {"stage01_serial train --optimizer adam --epsilon 0",
     "--epsilon: '0' is not a number greater than 0"},
    {"stage01_serial train --optimizer adam --epsilon 1e-60",
     "--epsilon 1e-60 is 0 in float; choose another, or --precision double"},
    {"stage01_serial train --optimizer nag",
     "--optimizer: 'nag' is not one of sgd, momentum, adam"},
    {"stage01_serial train --train-limit 30 --batch-size 10 --epochs 2 --warmup 6",
     "--warmup 6 leaves nothing of the training's 6 steps"},
    {"stage02_naive_cuda train --optimizer adam --memory per-step",
     "--memory is for --optimizer sgd with a constant rate"},
    {"stage04_minibatch train --schedule cosine --persistent on",
     "--persistent is for --optimizer sgd with a constant rate"},
    {"stage01_serial train --average-every 1",
     "--average-every is for several workers, and there is but one"},
    {"stage01_serial train --workers 2 --average-every 2",
     "--average-every is for --average weights: gradients are averaged in every step"},
    {"stage01_serial train --load digits.h5 --shuffle off --seed 2",
     "--seed has nothing to decide: --load gives the weights, and --shuffle off the order"},
    {"make_dataset --output x --features 3", "--features is for --dataset gaussian"},
    {"stage02_naive_cuda evaluate --load digits.h5 --memory once",
     "--memory is for train: evaluate has no use for it"},
    {"stage02_naive_cuda predict --load digits.h5 --memory once",
     "--memory is for train: predict has no use for it"},
    {"stage01_serial predict --load digits.h5 --image x.png --dataset mnist",
     "--dataset is for a data set, and --image names a picture"},
    {"stage01_serial predict --load digits.h5 --image x.png --sample 3",
     "--sample is for a data set, and --image names a picture"},
    {"stage01_serial predict --load digits.h5 --image x.png --features 3",
     "--features is for a data set, and --image names a picture"},
    {"stage01_serial predict --load digits.h5 --background dark",
     "--background is for a picture, which --image names"},
    {"stage03_shared_memory train --convolution direct",
     "--convolution is for --model cnn: mlp has no convolutions"},
    {"stage03_shared_memory evaluate --load digits.h5 --convolution direct",
     "--convolution is for --model cnn: mlp has no convolutions"},
    {"stage03_shared_memory train --biases off --fold-bias",
     "--fold-bias needs biases, and --biases off leaves none"},
    {"stage04_minibatch train --stream-batches --gather kernel",
     "--gather is for a data set on the device, and --stream-batches leaves it on the host"},
    {"stage04_minibatch train --model cnn --gather kernel",
     "--gather needs a fused layer that reads the input, and the cnn begins with a convolution"},
    {"stage04_minibatch train --math tf32", "--math is for the convolutions of --model cnn"},
    {"stage04_minibatch train --model cnn --fuse off --math tf32",
     "--math needs fused convolutions, and --fuse off leaves none"},
    {"stage04_minibatch train --hidden 9,9 --persistent on",
     "--persistent is for --model mlp with one hidden layer"},
    {"stage04_minibatch train --workers 2 --persistent on",
     "--persistent is for one worker: several exchange gradients in every step"},
    {"stage04_minibatch train --stream-batches --persistent on",
     "--persistent is for a data set on the device, and --stream-batches leaves it on the host"},
    {"stage04_minibatch train --fuse off --persistent on",
     "--persistent needs fused layers, and --fuse off leaves none"},
    {"stage04_minibatch train --gather kernel --persistent on",
     "--persistent is for a kernel that picks its batches itself, and --gather kernel leaves that "
     "to another"},
#ifdef STAGEWISE_STAGE05
    {"mpirun -n 1 stage05_mpi train --no-overlap", "--no-overlap" + one_process},
    {"mpirun -n 1 stage05_mpi train --data-from all", "--data-from" + one_process},
    {"mpirun -n 1 stage05_mpi train --transport host", "--transport" + one_process},
    {"mpirun -n 1 stage05_mpi evaluate --load digits.h5 --data-from all",
     "--data-from" + one_process},
    {"mpirun -n 1 stage05_mpi train --average weights",
     "--average is for several workers, and there is but one"},
    {"mpirun -n 1 stage05_mpi train --strategy tensor --average gradients", "--average" + of_data},
    {"mpirun -n 1 stage05_mpi train --strategy tensor --gather kernel", "--gather" + of_data},
    {"mpirun -n 2 stage05_mpi train --strategy tensor --tensor-ranks 2",
     "--tensor-ranks is for --strategy hybrid: otherwise, each process has a whole network, or all "
     "have one together"},
    {"mpirun -n 1 grade --mode 4 --hidden 3",
     "--hidden is for the modes that train: --mode 4 multiplies matrices"},
#endif
};

TEST_F(CommandLine, RefusesOptionsWithoutEffect) {
  for (const Refusal& refusal : refusals) {
    const std::vector<std::string> words = words_of(refusal.command);
    const Outcome outcome = run(refusal.command);
    EXPECT_EQ(outcome.exit_code, 2) << refusal.command;
    EXPECT_NE(outcome.err.find(": " + refusal.sentence + ".\n"), std::string::npos)
        << refusal.command << '\n'
        << outcome.err;
  }
}

TEST_F(CommandLine, CheckpointsStoreWhatApplies) {
  const auto stored = [&](const std::string& options) {
    run_well("stage01_serial train " + options + " --epochs 1 --save a.h5");
    std::set<std::string> names;
    for (const auto& [name, value] : load_checkpoint(path("a.h5")).settings) names.insert(name);
    return names;
  };
  const std::set<std::string> of_digits = stored("--train-limit 10 --batch-size 5 --hidden 4");
  for (const char* const name : {"features", "classes", "samples", "spacing", "deviation", "label",
                                 "format", "average", "average-every", "momentum", "beta1"}) {
    EXPECT_FALSE(of_digits.contains(name)) << name;
  }
  for (const char* const name : {"hidden", "activation", "loss", "batch-size", "dataset"}) {
    EXPECT_TRUE(of_digits.contains(name)) << name;
  }
  run_well("stage01_serial train --resume a.h5 --epochs 2 --save b.h5");
  EXPECT_TRUE(stored(tiny_data + "--batch-size 5 --hidden 4").contains("features"));
  EXPECT_FALSE(stored("--dataset step --model neuron --batch-size 5").contains("hidden"));
}

TEST_F(CommandLine, ResumesCheckpointsThatStoreTooMuch) {
  run_well(
      "stage01_serial train --train-limit 10 --batch-size 5 --hidden 4 --epochs 1 --save a.h5");
  Checkpoint old = load_checkpoint(path("a.h5"));
  for (const auto& [name, value] : std::map<std::string, std::string>{{"features", "10"},
                                                                      {"classes", "2"},
                                                                      {"samples", "60"},
                                                                      {"spacing", "1"},
                                                                      {"deviation", "1"},
                                                                      {"label", ""},
                                                                      {"format", ""},
                                                                      {"average", "gradients"},
                                                                      {"average-every", "1"}}) {
    old.settings[name] = value;
  }
  save_checkpoint(path("old.h5"), old);
  run_well("stage01_serial train --resume a.h5 --epochs 2 --save new2.h5");
  run_well("stage01_serial train --resume old.h5 --epochs 2 --save old2.h5");
  EXPECT_EQ(text("new2.h5"), text("old2.h5"));
}

TEST_F(CommandLine, SaysWhatMayHaveBeenMeant) {
  for (const auto& [command, end] : std::vector<std::pair<std::string, std::string>>{
           {"stage01_serial train --epoch 3",
            "option '--epoch' is unknown; did you mean --epochs?"},
           {"stage01_serial train --epcohs=3",
            "option '--epcohs=3' is unknown; did you mean --epochs?"},
           {"stage01_serial tarin", "argument 'tarin' is unknown; did you mean train?"},
           {"stage01_serial train --model mpl",
            "--model: 'mpl' is not one of mlp, cnn, neuron; did you mean mlp?"},
           {"stage01_serial train --activation rleu",
            "--activation: there is no activation 'rleu'; did you mean relu?"},
           {"stage01_serial train --dataset minst",
            "(idx, csv, cifar10, hdf5); did you mean mnist?"},
           {"compare_checkpoints digits.h5 digits.h5 --tolerence 1",
            "option '--tolerence' is unknown; did you mean --tolerance?"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_TRUE(outcome.err.ends_with(end + "\n")) << outcome.err;
  }
  expect_failure(
      "stage01_serial train --frobnicate", 2,
      "option '--frobnicate' is unknown; stage01_serial train --help lists what there is");
}

}  // namespace
}  // namespace stagewise
