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
const std::string tiny_cnn =
    " --model cnn --train-limit 4 --test-limit 2 --batch-size 2 --epochs 1 ";

/// An option that changes the results of a training.
struct Effect {
  std::string training;
  std::string
      option;  ///< with its value; % stands for a product that the program does not default to
};

const std::string four =
    " --dataset gaussian --samples 40 --features 4 --batch-size 10 --epochs 1 ";

const std::vector<Effect> effects = {
    {" --train-limit 30 --test-limit 5 --batch-size 5 --hidden 4 --epochs 1 ", "dataset step"},
    {tiny, "test-limit 3"},
    {tiny, "train-limit 20"},
    {tiny, "validation 10"},
    {"--dataset gaussian --samples 40 --batch-size 10 --epochs 1 ", "features 5"},
    {four, "classes 5"},
    {"--dataset gaussian --features 4 --batch-size 10 --epochs 1 ", "samples 50"},
    {tiny, "spacing 3"},
    {tiny, "deviation 3"},
    {four + "--classes 2 ", "model neuron"},
    {"--dataset gaussian --samples 200 --features 4 --epochs 1 ", "batch-size 10"},
    {"--dataset gaussian --samples 40 --features 4 --batch-size 10 ", "epochs 2"},
    {four, "hidden 3"},
    {tiny, "activation sigmoid"},
    {tiny, "loss squared-error"},
    {tiny, "biases off"},
    {tiny, "precision double"},
    {tiny, "learning-rate 0.5"},
    {tiny, "l2 0.1"},
    {tiny, "optimizer momentum"},
    {tiny + "--optimizer momentum ", "momentum 0.5"},
    {tiny + "--optimizer adam ", "beta1 0.5"},
    {tiny + "--optimizer adam ", "beta2 0.5"},
    {tiny + "--optimizer adam ", "epsilon 0.1"},
    {tiny, "schedule cosine"},
    {tiny, "warmup 2"},
    {tiny, "seed 2"},
    {tiny, "shuffle off"},
    {tiny, "workers 2"},
    {tiny + "--workers 2 ", "average weights"},
    {tiny + "--workers 2 --average weights ", "average-every 2"},
    {tiny, "timings"},
    {tiny, "explain"},
    // Of single stages. What changes speed alone is in the checkpoint.
    {tiny, "gemm %"},
    {tiny, "block-size 8"},
    {tiny, "memory once"},
    {tiny, "reduce shuffles"},
    {tiny_cnn, "convolution direct"},
    {tiny, "fold-bias off"},
    {tiny, "stream-batches"},
    {tiny, "gather kernel"},
    {tiny, "fuse off"},
    {tiny, "persistent off"},
    {tiny_cnn, "math own"},
    {tiny, "capture off"},
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

TEST_P(IdleOptions, EveryOptionOfTrainChangesSomething) {
  const bool is_first = GetParam() == "stage01_serial";
  std::map<std::string, std::string> known_results;
  const std::set<std::string> offered = options_of("train");
  const std::string shared = run_well("stage01_serial train --help");
  for (const auto& [training, option] : effects) {
    const std::string name = option.substr(0, option.find(' '));
    // What all stages share is asked of the first.
    const bool is_own = shared.find("--" + name + " ") == std::string::npos || name == "gemm";
    if (!offered.contains(name) || (!is_first && !is_own)) continue;
    std::string without = training;
    std::string with = "--" + option;
    if (GetParam() == "ladder tf32" && name == "fuse") without = tiny_cnn + "--math own ";
    if (with.ends_with('%')) with.replace(with.size() - 1, 1, is_first ? "naive" : "tile-16");
    std::string& before = known_results[without];
    if (before.empty()) before = results_of(without);
    EXPECT_FALSE(results_of(without + with) == before) << with << " changes nothing";
  }
  // What files say, or stage 05's processes, is shown elsewhere.
  const std::set<std::string> elsewhere = {
      "help",       "format",    "data-dir",  "label",        "load",    "save",
      "save-every", "resume",    "save-best", "report",       "csv",     "log-every",
      "strategy",   "transport", "timeout",   "tensor-ranks", "overlap", "data-from"};
  for (const std::string& name : offered) {
    const bool is_known = std::any_of(effects.begin(), effects.end(), [&](const Effect& one) {
      return one.option.substr(0, one.option.find(' ')) == name;
    });
    EXPECT_TRUE(is_known || elsewhere.contains(name))
        << "train --" << name << ": what does it change?";
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
     "--hidden: '' is not a whole number from 1 to 16777216; expected are the widths of the "
     "layers, such as 256,128, or none"},
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
    {"stage01_serial train --hidden none --activation sigmoid",
     "--activation is for hidden layers, and --hidden none leaves none"},
    {"stage01_serial predict --load digits.h5 --image x.png --features 3",
     "--features is for a data set, and --image names a picture"},
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

/// The last option does not apply to the run, which says why. The training takes an instant.
const std::string instant =
    " --epochs 0 --train-limit 20 --test-limit 5 --batch-size 10 --precision float ";
const std::string on_step = " train --dataset step" + instant;
const std::string on_digits = " train" + instant;
const std::string of_table = " --dataset table.csv --format csv --label y ";
const std::string one_process =
    "is for several processes, and there is but one: start them with mpirun -n";
const std::string of_data =
    "is for --strategy data: with tensor, several ranks work on the same samples, in step with "
    "each other";

const std::vector<Remark> notes = {
    {"stage01_serial" + on_digits + "--features 3", "is for --dataset gaussian"},
    {"stage01_serial" + on_step + "--deviation 3", "is for --dataset gaussian"},
    {"stage01_serial evaluate --load digits.h5 --deviation 3", "is for --dataset gaussian"},
    {"stage01_serial" + on_digits + "--label x",
     "names a column of a CSV file, but digits is none"},
    {"stage01_serial" + on_digits + "--data-dir none",
     "is for data sets that are read from there, and digits is generated"},
    {"stage01_serial train --epochs 0 --batch-size 1" + of_table + "--data-dir .",
     "is for data sets that are read from there, and table.csv is a path"},
    {"stage01_serial evaluate --load digits.h5 --data-dir none",
     "is for data sets that are read from there, and digits is generated"},
    {"stage01_serial" + on_digits + "--workers 1 --average weights",
     "is for several workers, and there is but one"},
    {"stage01_serial" + on_digits + "--average-every 3",
     "is for several workers, and there is but one"},
    {"stage01_serial" + on_digits + "--workers 2 --average-every 2",
     "is for --average weights: gradients are averaged in every step"},
    {"stage01_serial" + on_digits + "--momentum 0.5", "is for --optimizer momentum"},
    {"stage01_serial" + on_digits + "--optimizer momentum --beta1 0.5", "is for --optimizer adam"},
    {"stage01_serial" + on_digits + "--epsilon 1e-60", "is for --optimizer adam"},
    {"stage01_serial train --load digits.h5 --shuffle off" + instant + "--seed 2",
     "has nothing to decide: --load gives the weights, and --shuffle off the order"},
    {"stage01_serial" + on_digits + "--save x.h5 --save-every 3",
     "adds nothing: --save writes at the end, and --epochs is 0"},
    {"stage01_serial info --hidden 8", "is for info --program"},
    {"stage01_serial predict --load digits.h5 --test-limit 5 --background dark",
     "is for a picture, which --image names"},
    {"make_dataset --output x --train 5 --test 5 --features 3", "is for --dataset gaussian"},
    {"per_step_memory" + on_digits + "--optimizer adam --memory once",
     "is for --optimizer sgd with a constant rate"},
    {"per_step_memory evaluate --load digits.h5 --test-limit 5 --memory per-step", "is for train"},
    {"per_step_memory predict --load digits.h5 --test-limit 5 --memory once", "is for train"},
    {"stage03_shared_memory" + on_digits + "--convolution direct",
     "is for --model cnn: mlp has no convolutions"},
    {"stage03_shared_memory evaluate --load digits.h5 --test-limit 5 --convolution direct",
     "is for --model cnn: mlp has no convolutions"},
    {"ladder rungs" + on_digits + "--convolution im2col",
     "is for --model cnn: mlp has no convolutions"},
    {"ladder rungs evaluate --load digits.h5 --test-limit 5 --convolution im2col",
     "is for --model cnn: mlp has no convolutions"},
    {"ladder tf32" + on_digits + "--math tf32", "is for the convolutions of --model cnn"},
    {"fold_bias" + on_digits + "--biases off --fold-bias",
     "needs biases, and --biases off leaves none"},
    {"stage04_minibatch" + on_digits + "--stream-batches --gather kernel",
     "is for a data set on the device, and --stream-batches leaves it on the host"},
    {"stage04_minibatch" + on_digits + "--model cnn --gather kernel",
     "needs a fused layer that reads the input, and the cnn begins with a convolution"},
    {"ladder persistent" + on_digits + "--hidden 9,9 --persistent off",
     "is for --model mlp with one hidden layer"},
    {"ladder persistent" + on_digits + "--stream-batches --persistent auto",
     "is for a data set on the device, and --stream-batches leaves it on the host"},
    {"ladder persistent" + on_digits + "--stream-batches --gather kernel",
     "is for a data set on the device, and --stream-batches leaves it on the host"},
#ifdef STAGEWISE_STAGE05
    {"mpirun -n 1 stage05_mpi" + on_digits + "--overlap off", one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--data-from all", one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--transport nccl", one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--strategy tensor --transport nccl", one_process},
    {"mpirun -n 1 stage05_mpi evaluate --load digits.h5 --test-limit 5 --data-from all",
     one_process},
    {"mpirun -n 1 stage05_mpi" + on_digits + "--average weights",
     "is for several workers, and there is but one"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --average weights", of_data},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --gather kernel", of_data},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --overlap on",
     "is for --strategy data or hybrid: with tensor, there are no gradients to exchange"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--average weights --overlap off",
     "is for --average gradients: weights are exchanged when a step is done"},
    {"mpirun -n 2 stage05_mpi" + on_digits + "--strategy tensor --tensor-ranks 2",
     "is for --strategy hybrid: otherwise, each process has a whole network, or all have one "
     "together"},
    {"mpirun -n 2 grade --mode 3 --dataset=digits --train-limit 300 --validation 50 --batch-size "
     "80 --hidden 8 --data-dir .",
     "is for data sets that are read from there, and digits is generated"},
    {"mpirun -n 2 grade --mode 3 --dataset=digits --train-limit 300 --validation 50 --batch-size "
     "80 --hidden 8 --tensor-ranks 2",
     "is for --strategy hybrid"},
    {"mpirun -n 1 grade --mode 4 --hidden 3",
     "is for the modes that train: --mode 4 multiplies matrices"},
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
  }
};

/// The program continues, and says so once, even if there are several processes.
TEST_P(IdleNotes, AreOneSentence) {
  const std::string& command = GetParam().command;
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t last = command.rfind("--");
  const std::string option = command.substr(last, command.find_first_of(" =", last) - last);
  EXPECT_EQ(outcome.err, program_of(command) + ": note: " + option + " has no effect here: it " +
                             GetParam().sentence + ".\n");
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
           {" --load digits.h5 --shuffle off --epochs 1 --batch-size 10 ", "--seed 11 "}}) {
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
