// Each option of every command changes something. If it does not, a note says so, or it is refused
// because the run would contradict it.

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
    {"memory", tiny, tiny + "--memory once"},
    {"reduce", tiny, tiny + "--reduce shuffles"},
    {"convolution", tiny_cnn, tiny_cnn + "--convolution direct"},
    {"fold-bias", tiny, tiny + "--fold-bias off"},
    {"stream-batches", tiny, tiny + "--stream-batches"},
    {"gather", tiny, tiny + "--gather kernel"},
    {"fuse", tiny, tiny + "--fuse off"},
    {"persistent", tiny, tiny + "--persistent off"},
    {"math", tiny_cnn, tiny_cnn + "--math own"},
    {"capture", tiny, tiny + "--capture off"},
    // Of several processes.
    {"strategy", "", "", "test_stage05.cpp"},
    {"transport", "", "", "test_stage05.cpp"},
    {"tensor-ranks", "", "", "test_stage05.cpp"},
    {"timeout", "", "", "test_stage05.cpp"},
    {"overlap", "", "", "test_stage05.cpp"},
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
      "tensor-ranks", "transport", "overlap"}},
};

class IdleOptions : public CommandLine, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "stage01_serial" && GetParam() != "ladder blocked") need_device(GetParam());
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
    std::string without = effect.without;
    std::string with = effect.with;
    if (GetParam() == "ladder tf32" && effect.option == "fuse") {  // needed for rounding
      without = tiny_cnn + "--math own";
      with = without + " --fuse off";
    }
    if (with.ends_with('%')) with.replace(with.size() - 1, 1, is_first ? "naive" : "tile-16");
    std::string& before = known_results[without];
    if (before.empty()) before = results_of(without);
    EXPECT_FALSE(results_of(with) == before) << with << " changes nothing";
  }
}

std::string tested_program(const testing::TestParamInfo<std::string>& program) {
  return test_name(program.param);
}

INSTANTIATE_TEST_SUITE_P(Stages, IdleOptions, testing::ValuesIn(stages()), tested_program);
INSTANTIATE_TEST_SUITE_P(Variants, IdleOptions,
                         testing::Values("ladder blocked", "ladder rungs", "ladder tf32",
                                         "ladder persistent", "per_step_memory", "fold_bias"),
                         tested_program);

/// A command, and what is said about one of its options.
struct Remark {
  std::string command;
  std::string sentence;
};

const std::string of_neuron =
    " is for --model mlp: a neuron is one sigmoid unit with a squared error";

/// The run would contradict the option.
const std::vector<Remark> contradictions = {
    {"stage01_serial train --hidden 0",
     "--hidden: '0' is not a whole number from 1 to 16777216; expected are the widths of the "
     "layers, such as 256,128, or none"},
    {"stage01_serial train --hidden ''",
     "--hidden: '' is no width; expected are the widths of the layers, such as 256,128, or none"},
    {"stage01_serial train --model cnn --hidden 4",
     "--hidden is for --model mlp: the layers of cnn are fixed"},
    {"stage01_serial info --program --model cnn --hidden none",
     "--hidden is for --model mlp: the layers of cnn are fixed"},
    {"stage01_serial train --model cnn --activation sigmoid",
     "--model cnn has relu units only; leave --activation out"},
    {"stage01_serial train --dataset step --model neuron --hidden 4", "--hidden" + of_neuron},
    {"stage01_serial train --dataset step --model neuron --biases off", "--biases" + of_neuron},
    {"stage01_serial train --dataset step --model neuron --activation relu",
     "--activation" + of_neuron},
    {"stage01_serial train --optimizer momentum --momentum 1", "--momentum: '1' is not below 1"},
    {"stage01_serial train --optimizer adam --epsilon 0",
     "--epsilon: '0' is not a number greater than 0"},
    {"stage01_serial train --optimizer adam --epsilon 1e-60",
     "--epsilon 1e-60 is 0 in float; choose another, or --precision double"},
    {"stage01_serial train --optimizer nag",
     "--optimizer: 'nag' is not one of sgd, momentum, adam"},
    {"stage01_serial train --train-limit 30 --batch-size 10 --epochs 2 --warmup 6",
     "--warmup 6 leaves nothing of the training's 6 steps"},
    {"stage01_serial predict --load digits.h5 --image x.png --dataset mnist",
     "--dataset is for a data set, and --image names a picture"},
    {"stage01_serial predict --load digits.h5 --image x.png --sample 3",
     "--sample is for a data set, and --image names a picture"},
    {"per_step_memory train --optimizer adam --memory per-step",
     "--memory is for --optimizer sgd with a constant rate"},
    {"per_step_memory evaluate --load digits.h5 --memory thrice",
     "--memory: 'thrice' is not one of per-step, once"},
    {"stage04_minibatch train --stream-batches --gather loads",
     "--gather is for a data set on the device, and --stream-batches leaves it on the host"},
    {"stage04_minibatch train --model cnn --gather loads",
     "--gather needs a fused layer that reads the input, and the cnn begins with a convolution"},
    {"ladder persistent train --schedule cosine --persistent on",
     "--persistent is for --optimizer sgd with a constant rate"},
    {"ladder persistent train --hidden 9,9 --persistent on",
     "--persistent is for --model mlp with one hidden layer"},
    {"ladder persistent train --workers 2 --persistent on",
     "--persistent is for one worker: several exchange gradients in every step"},
    {"ladder persistent train --stream-batches --persistent on",
     "--persistent is for a data set on the device, and --stream-batches leaves it on the host"},
    {"ladder persistent train --fuse off --persistent on",
     "--persistent needs fused layers, and --fuse off leaves none"},
    {"ladder persistent train --fuse rows --persistent on",
     "--persistent is for a whole step as one kernel, and --fuse rows fuses less"},
    {"ladder persistent train --gather kernel --persistent on",
     "--persistent is for a kernel that picks its batches itself, and --gather kernel leaves that "
     "to another"},
#ifdef STAGEWISE_STAGE05
    {"mpirun -n 2 stage05_mpi train --persistent on",
     "--persistent is offered by ladder persistent, not by stage05_mpi"},
#endif
};

TEST_F(CommandLine, RefusesOptionsThatTheRunWouldContradict) {
  for (const Remark& refusal : contradictions) {
    const Outcome outcome = run(refusal.command);
    EXPECT_EQ(outcome.exit_code, 2) << refusal.command;
    EXPECT_NE(outcome.err.find(": " + refusal.sentence + ".\n"), std::string::npos)
        << refusal.command << '\n'
        << outcome.err;
  }
}

/// The option does not apply to the run. The training takes an instant.
const std::string instant =
    " --epochs 0 --train-limit 20 --test-limit 5 --batch-size 10 --precision float ";
const std::string on_step = " train --dataset step" + instant;
const std::string on_digits = " train" + instant;
const std::string of_table = " --dataset table.csv --format csv --label y ";
const std::string one_process =
    " has no effect here: it is for several processes, and there is but one: start them with "
    "mpirun -n";
const std::string of_data =
    " has no effect here: it is for --strategy data: with tensor, several ranks work on the same "
    "samples, in step with each other";

const std::vector<Remark> notes = {
    {"stage01_serial" + on_step + "--model neuron --biases on",
     "--biases has no effect here: it" + of_neuron},
    {"stage01_serial" + on_digits + "--hidden none --activation sigmoid",
     "--activation has no effect here: it is for hidden layers, and --hidden none leaves none"},
    {"stage01_serial" + on_digits + "--features 3",
     "--features has no effect here: it is for --dataset gaussian"},
    {"stage01_serial" + on_step + "--deviation 3",
     "--deviation has no effect here: it is for --dataset gaussian"},
    {"stage01_serial evaluate --load digits.h5 --deviation 3",
     "--deviation has no effect here: it is for --dataset gaussian"},
    {"stage01_serial" + on_digits + "--label x",
     "--label has no effect here: it names a column of a CSV file, but digits is none"},
    {"stage01_serial" + on_digits + "--data-dir none",
     "--data-dir has no effect here: it is for data sets that are read from there, and digits is "
     "generated"},
    {"stage01_serial train --epochs 0 --batch-size 1 --data-dir ." + of_table,
     "--data-dir has no effect here: it is for data sets that are read from there, and table.csv "
     "is a path"},
    {"stage01_serial evaluate --load digits.h5 --data-dir none",
     "--data-dir has no effect here: it is for data sets that are read from there, and digits is "
     "generated"},
    {"stage01_serial" + on_digits + "--workers 1 --average weights",
     "--average has no effect here: it is for several workers, and there is but one"},
    {"stage01_serial" + on_digits + "--average gradients",
     "--average has no effect here: it is for several workers, and there is but one"},
    {"stage01_serial" + on_digits + "--average-every 3",
     "--average-every has no effect here: it is for several workers, and there is but one"},
    {"stage01_serial" + on_digits + "--workers 2 --average-every 2",
     "--average-every has no effect here: it is for --average weights: gradients are averaged in "
     "every step"},
    {"stage01_serial" + on_digits + "--momentum 0.5",
     "--momentum has no effect here: it is for --optimizer momentum"},
    {"stage01_serial" + on_digits + "--optimizer momentum --beta1 0.5",
     "--beta1 has no effect here: it is for --optimizer adam"},
    {"stage01_serial" + on_digits + "--epsilon 1e-60",
     "--epsilon has no effect here: it is for --optimizer adam"},
    {"stage01_serial train --load digits.h5 --shuffle off --seed 2" + instant,
     "--seed has no effect here: it has nothing to decide: --load gives the weights, and --shuffle "
     "off the order"},
    {"stage01_serial" + on_digits + "--save-every 3 --save x.h5",
     "--save-every has no effect here: it adds nothing: --save writes at the end, and --epochs is "
     "0"},
    {"stage01_serial info --hidden 8", "--hidden has no effect here: it is for info --program"},
    {"stage01_serial predict --load digits.h5 --test-limit 5 --background dark",
     "--background has no effect here: it is for a picture, which --image names"},
    {"stage01_serial predict --load digits.h5 --image seven.pgm --features 3",
     "--features has no effect here: it is for a data set, and --image names a picture"},
    {"make_dataset --output x --train 5 --test 5 --features 3",
     "--features has no effect here: it is for --dataset gaussian"},
    {"per_step_memory" + on_digits + "--optimizer adam --memory once",
     "--memory has no effect here: it is for --optimizer sgd with a constant rate"},
    {"per_step_memory evaluate --load digits.h5 --test-limit 5 --memory per-step",
     "--memory has no effect here: it is for train"},
    {"per_step_memory predict --load digits.h5 --test-limit 5 --memory once",
     "--memory has no effect here: it is for train"},
    {"stage03_shared_memory" + on_digits + "--convolution direct",
     "--convolution has no effect here: it is for --model cnn: mlp has no convolutions"},
    {"stage03_shared_memory evaluate --load digits.h5 --test-limit 5 --convolution direct",
     "--convolution has no effect here: it is for --model cnn: mlp has no convolutions"},
    {"ladder rungs" + on_digits + "--convolution im2col",
     "--convolution has no effect here: it is for --model cnn: mlp has no convolutions"},
    {"ladder rungs evaluate --load digits.h5 --test-limit 5 --convolution im2col",
     "--convolution has no effect here: it is for --model cnn: mlp has no convolutions"},
    {"ladder tf32" + on_digits + "--math tf32",
     "--math has no effect here: it is for the convolutions of --model cnn"},
    {"fold_bias" + on_digits + "--biases off --fold-bias",
     "--fold-bias has no effect here: it needs biases, and --biases off leaves none"},
    {"stage04_minibatch" + on_digits + "--stream-batches --gather kernel",
     "--gather has no effect here: it is for a data set on the device, and --stream-batches leaves "
     "it on the host"},
    {"stage04_minibatch" + on_digits + "--model cnn --gather kernel",
     "--gather has no effect here: it needs a fused layer that reads the input, and the cnn begins "
     "with a convolution"},
    {"ladder persistent" + on_digits + "--hidden 9,9 --persistent off",
     "--persistent has no effect here: it is for --model mlp with one hidden layer"},
    {"ladder persistent" + on_digits + "--stream-batches --persistent auto",
     "--persistent has no effect here: it is for a data set on the device, and --stream-batches "
     "leaves it on the host"},
    {"ladder persistent" + on_digits + "--stream-batches --gather kernel",
     "--gather has no effect here: it is for a data set on the device, and --stream-batches leaves "
     "it on the host"},
#ifdef STAGEWISE_STAGE05
    {"mpirun -n 1 stage05_mpi" + on_digits + "--overlap off", "--overlap" + one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--data-from all", "--data-from" + one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--transport nccl", "--transport" + one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--strategy tensor --transport nccl",
     "--transport" + one_process},
    {"mpirun -n 1 stage05_mpi evaluate --load digits.h5 --test-limit 5 --data-from all",
     "--data-from" + one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--average weights",
     "--average has no effect here: it is for several workers, and there is but one"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --average weights",
     "--average" + of_data},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --gather kernel",
     "--gather" + of_data},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --overlap on",
     "--overlap has no effect here: it is for --strategy data or hybrid: with tensor, there are no "
     "gradients to exchange"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--average weights --overlap off",
     "--overlap has no effect here: it is for --average gradients: weights are exchanged when a "
     "step is done"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --tensor-ranks 2",
     "--tensor-ranks has no effect here: it is for --strategy hybrid: otherwise, each process has "
     "a whole network, or all have one together"},
    {"mpirun -n 2 grade --mode 3 --dataset=digits --train-limit 300 --validation 50 --batch-size "
     "80 --hidden 8 --data-dir .",
     "--data-dir has no effect here: it is for data sets that are read from there, and digits is "
     "generated"},
    {"mpirun -n 2 grade --mode 3 --dataset=digits --train-limit 300 --validation 50 --batch-size "
     "80 --hidden 8 --tensor-ranks 2",
     "--tensor-ranks has no effect here: it is for --strategy hybrid"},
    {"mpirun -n 1 grade --mode 4 --hidden 3",
     "--hidden has no effect here: it is for the modes that train: --mode 4 multiplies matrices"},
#endif
};

class IdleNotes : public CommandLine, public testing::WithParamInterface<Remark> {
 protected:
  void SetUp() override {
    surroundings_.variables["STAGEWISE_CPU_WORKERS"] = std::nullopt;
    const std::string& command = GetParam().command;
    const std::string program = program_of(command);
    if (program != "stage01_serial" && program != "make_dataset") {
      need_device("stage02_naive_cuda");  // which says so sooner
    }
    const std::string table = "a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n";
    write_file(path("table.csv"), Bytes(table.begin(), table.end()));
    std::string picture = "P2 28 28 255";
    for (int i = 0; i < 28 * 28; ++i) picture += i % 28 / 4 == 3 ? " 255" : " 0";
    write_file(path("seven.pgm"), Bytes(picture.begin(), picture.end()));
  }
};

/// The program continues, and says so once, even if there are several processes.
TEST_P(IdleNotes, AreOneSentence) {
  const std::string& command = GetParam().command;
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, program_of(command) + ": note: " + GetParam().sentence + ".\n");
}

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest wants this name
void PrintTo(const Remark& note, std::ostream* out) {
  *out << note.command;
}

INSTANTIATE_TEST_SUITE_P(Options, IdleNotes, testing::ValuesIn(notes));

/// An option without effect changes nothing, not even in the checkpoint.
TEST_F(CommandLine, OptionsWithoutEffectChangeNoBit) {
  const auto checkpoint_of = [&](const std::string& options) {
    EXPECT_EQ(run("stage01_serial train" + options + "--save a.h5").exit_code, 0) << options;
    return text("a.h5");
  };
  for (const auto& [options, idle] : std::vector<std::pair<std::string, std::string>>{
           {tiny, "--average weights --average-every 7 "},
           {tiny, "--momentum 0.1 --beta1 0.2 --beta2 0.3 --epsilon 1e-60 "},
           {tiny, "--label x --data-dir none --save-every 2 "},
           {tiny_data + "--batch-size 10 --epochs 1 --hidden none ", "--activation sigmoid "},
           {" --load digits.h5 --shuffle off --epochs 1 --batch-size 10 ", "--seed 11 "},
           {" --resume digits.h5 --epochs 3 ", "--average weights --momentum 0.5 --label x "}}) {
    EXPECT_TRUE(checkpoint_of(options) == checkpoint_of(options + idle)) << idle;
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
