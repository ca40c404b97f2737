// What happens to a command that cannot be carried out: an exit code and one sentence.

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include <hdf5.h>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

struct Failure {
  const char* name;
  const char* command;
  int exit_code;
  const char* sentence;  ///< a "..." at its end leaves the rest open
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest wants this name
void PrintTo(const Failure& failure, std::ostream* out) {
  *out << failure.command;
}

std::string name_of(const testing::TestParamInfo<Failure>& info) {
  return info.param.name;
}

class WrongCommand : public CommandLine, public testing::WithParamInterface<Failure> {};

TEST_P(WrongCommand, SaysWhatIsWrong) {
  surroundings_.heeds_permissions = true;
  const Failure& failure = GetParam();
  expect_failure(failure.command, failure.exit_code, failure.sentence);
}

const std::vector<Failure> words = {
    {"nothing", "stage01_serial", 2,
     "say what to do: train, evaluate, predict or info (see stage01_serial --help)"},
    {"unknown_command", "stage01_serial trian", 2,
     "argument 'trian' is unknown; did you mean train?"},
    {"unknown_option_of_the_program", "stage01_serial --fast", 2,
     "option '--fast' is unknown; stage01_serial --help lists what there is"},
    {"unknown_option_of_train", "stage01_serial train --epoch 3", 2,
     "option '--epoch' is unknown; did you mean --epochs?"},
    {"unknown_short_option", "stage01_serial train -e 3", 2,
     "option '-e' is unknown; stage01_serial train --help lists what there is"},
    {"unknown_option_of_info", "stage01_serial info --all", 2,
     "option '--all' is unknown; stage01_serial info --help lists what there is"},
    {"words_too_many", "stage01_serial train mnist now", 2,
     "argument 'mnist' is unknown; stage01_serial train --help lists what there is"},
    {"two_commands", "stage01_serial train evaluate", 2,
     "argument 'evaluate' is unknown; stage01_serial train --help lists what there is"},
    {"option_of_train_in_evaluate", "stage01_serial evaluate --load digits.h5 --epochs 3", 2,
     "option '--epochs' is unknown; stage01_serial evaluate --help lists what there is"},
    {"option_of_evaluate_in_train", "stage01_serial train --latency", 2,
     "option '--latency' is unknown; stage01_serial train --help lists what there is"},
    {"value_for_a_flag", "stage01_serial train --timings=no", 2, "--timings takes no value"},
    {"value_after_a_flag", "stage01_serial train --timings 3", 2,
     "argument '3' is unknown; stage01_serial train --help lists what there is"},
    {"option_twice", "stage01_serial train --epochs 1 --epochs 2", 2,
     "--epochs is given more than once"},
    {"option_taken_as_file_name", "stage01_serial train --save --epochs 3", 2,
     "argument '3' is unknown; stage01_serial train --help lists what there is"},
};
INSTANTIATE_TEST_SUITE_P(Words, WrongCommand, testing::ValuesIn(words), name_of);

class OptionWithoutValue : public CommandLine, public testing::WithParamInterface<std::string> {};

TEST_P(OptionWithoutValue, IsRefused) {
  const std::string option = GetParam();
  for (const std::string& form : {"--" + option, "--" + option + "="}) {
    expect_failure("stage01_serial train " + form, 2, "--" + option + " needs a value");
  }
}

INSTANTIATE_TEST_SUITE_P(Train, OptionWithoutValue,
                         testing::Values("dataset", "format", "data-dir", "train-limit",
                                         "validation", "test-limit", "model", "hidden",
                                         "activation", "loss", "precision", "batch-size", "epochs",
                                         "learning-rate", "l2", "seed", "shuffle", "load", "save",
                                         "save-every", "save-best", "resume", "report", "csv",
                                         "log-every", "gemm"),
                         [](const auto& test) { return test_name(test.param); });

const std::vector<Failure> values = {
    {"model", "stage01_serial train --model transformer", 2,
     "--model: 'transformer' is not one of mlp, ..."},
    {"activation", "stage01_serial train --activation tanh", 2,
     "--activation: there is no activation 'tanh'"},
    {"loss", "stage01_serial train --loss hinge", 2, "--loss: there is no loss 'hinge'"},
    {"precision", "stage01_serial train --precision half", 2,
     "--precision: 'half' is not one of float, double"},
    {"shuffle", "stage01_serial train --shuffle yes", 2, "--shuffle: 'yes' is neither on nor off"},
    {"gemm", "stage01_serial train --gemm fast", 2,
     "--gemm: 'fast' is not one of naive, reordered, blas"},
    {"gemm_of_a_ladder", "stage01_serial train --gemm blocked", 2,
     "--gemm: 'blocked' is not one of naive, reordered, blas"},
    {"dataset", "stage01_serial train --dataset letters", 2,
     "--dataset letters is not a data set of this version, which has digits, ..."},
    {"format", "stage01_serial train --dataset x --format png", 2,
     "--format png is not a format of this version, which reads idx..."},
    {"empty_model", "stage01_serial train --model ''", 2, "--model: '' is not one of mlp, ..."},
    {"empty_dataset", "stage01_serial train --dataset ''", 2,
     "--dataset: a name was expected, but it is empty"},
    {"empty_folder", "stage01_serial train --data-dir ''", 2,
     "--data-dir: a name was expected, but it is empty"},
    {"empty_load", "stage01_serial train --load ''", 2,
     "--load: a name was expected, but it is empty"},
    {"empty_save", "stage01_serial train --save ''", 2,
     "--save: a name was expected, but it is empty"},
    {"empty_resume", "stage01_serial train --resume ''", 2,
     "--resume: a name was expected, but it is empty"},
    {"empty_report", "stage01_serial train --report ''", 2,
     "--report: a name was expected, but it is empty"},
    {"width_of_text", "stage01_serial train --hidden wide", 2,
     "--hidden: 'wide' is not a whole number from 1 to 16777216; expected are the widths of the "
     "layers, such as 256,128, or none"},
    {"width_missing", "stage01_serial train --hidden 256,", 2,
     "--hidden: '256,' has a comma with no width on one side of it; expected are the widths of the "
     "layers, such as 256,128, or none"},
    {"width_missing_in_between", "stage01_serial train --hidden 4,,2", 2,
     "--hidden: '4,,2' has a comma with no width on one side of it; ..."},
    {"learning_rate_0_in_float", "stage01_serial train --learning-rate 1e-60", 2,
     "--learning-rate 1e-60 is 0 in float; choose another, or --precision double"},
    {"learning_rate_infinite_in_float", "stage01_serial train --learning-rate 1e39", 2,
     "--learning-rate 1e+39 is infinite in float; choose another, or --precision double"},
    {"l2_0_in_float", "stage01_serial train --l2 1e-60", 2,
     "--l2 1e-60 is 0 in float; choose another, or --precision double"},
    {"l2_infinite_in_float", "stage01_serial train --load digits.h5 --l2 1e39", 2,
     "--l2 1e+39 is infinite in float; choose another, or --precision double"},
    {"file_without_format", "stage01_serial train --dataset digits/train-images-idx3-ubyte", 2,
     "--dataset digits/train-images-idx3-ubyte is a file; --format must say which format it has "
     "(idx, csv, cifar10, hdf5)"},
    {"width_zero", "stage01_serial train --hidden 256,0", 2,
     "--hidden: '0' is not a whole number from 1 to 16777216; ..."},
    {"width_negative", "stage01_serial train --hidden -5", 2,
     "--hidden: '-5' is not a whole number from 1 to 16777216; ..."},
    {"width_too_large", "stage01_serial train --hidden 16777217", 2,
     "--hidden: '16777217' is not a whole number from 1 to 16777216; ..."},
    {"batch_larger_than_training_set", "stage01_serial train --train-limit 50", 2,
     "--batch-size 100 is larger than the training set of 50 samples"},
    {"batch_larger_than_what_validation_leaves",
     "stage01_serial train --train-limit 150 --validation 60", 2,
     "--batch-size 100 is larger than the training set of 90 samples"},
    {"batch_very_large", "stage01_serial train --batch-size 9223372036854775807", 2,
     "--batch-size 9223372036854775807 is larger than the training set of 10,000 samples"},
    {"train_limit_too_large", "stage01_serial train --train-limit 10001", 2,
     "--train-limit 10001 asks for more than the 10,000 training samples of digits"},
    {"test_limit_too_large", "stage01_serial train --test-limit 2001", 2,
     "--test-limit 2001 asks for more than the 2,000 test samples of digits"},
    {"test_limit_too_large_in_evaluate",
     "stage01_serial evaluate --load digits.h5 --test-limit 2001", 2,
     "--test-limit 2001 asks for more than the 2,000 test samples of digits"},
    {"validation_takes_all", "stage01_serial train --train-limit 60 --validation 60", 2,
     "--validation 60 leaves nothing to train on: there are 60 training samples"},
    {"neuron_for_ten_classes", "stage01_serial train --model neuron", 2,
     "--model neuron tells two classes apart, but the data set has 10"},
    {"average", "stage01_serial train --average median", 2,
     "--average: 'median' is not one of gradients, weights"},
    {"more_workers_than_samples", "stage01_serial train --workers 101", 2,
     "--workers 101 is more than a batch has samples: --batch-size is 100"},
    {"biases", "stage01_serial train --biases some", 2, "--biases: 'some' is neither on nor off"},
    {"hidden_of_cnn", "stage01_serial train --model cnn --hidden 9", 2,
     "--hidden is for --model mlp: the layers of cnn are fixed"},
    {"cnn_without_images", "stage01_serial train --model cnn --dataset step", 2,
     "--model cnn takes images, but a sample of this data set has shape [1]"},
    {"hidden_of_neuron", "stage01_serial train --model neuron --dataset step --hidden 9", 2,
     "--hidden is for --model mlp: a neuron is one sigmoid unit with a squared error"},
    {"loss_of_neuron", "stage01_serial train --model neuron --dataset step --loss cross-entropy", 2,
     "--loss is for --model mlp: a neuron is one sigmoid unit with a squared error"},
    {"one_class", "stage01_serial train --dataset gaussian --classes 1", 2,
     "--classes: '1' is not a whole number from 2 to 16777216"},
    {"label_missing", "stage01_serial train --dataset text.h5 --format csv", 2,
     "--label must name the column of text.h5 that holds the class; the columns are hello"},
    {"load_missing", "stage01_serial evaluate", 2, "--load is required"},
    {"save_every_without_save", "stage01_serial train --save-every 2", 2,
     "--save-every 2 needs --save, which names the file"},
    {"save_and_report", "stage01_serial train --save result --report ./result", 2,
     "--save and --report name the same file, result"},
    {"save_best_without_validation", "stage01_serial train --save-best x.h5", 2,
     "--save-best needs --validation: without it, nothing says which epoch is best"},
    {"save_and_save_best", "stage01_serial train --validation 100 --save x.h5 --save-best ./x.h5",
     2, "--save and --save-best name the same file, x.h5"},
    {"report_and_csv", "stage01_serial train --report x --csv ./x", 2,
     "--report and --csv name the same file, x"},
    {"load_and_save_best",
     "stage01_serial train --load digits.h5 --validation 9 --save-best digits.h5", 2,
     "--load and --save-best name the same file, digits.h5"},
    {"resume_and_csv", "stage01_serial train --resume digits.h5 --csv digits.h5", 2,
     "--resume and --csv name the same file, digits.h5"},
    {"csv_without_confusion", "stage01_serial evaluate --load digits.h5 --csv x.csv", 2,
     "--csv needs --confusion, which is what it writes"},
    {"confusion_of_many_classes", "stage01_serial evaluate --load many.h5 --confusion", 2,
     "--confusion counts up to 1,000 classes, and there are 1,001"},
    {"sample_that_is_not_there",
     "stage01_serial predict --load digits.h5 --test-limit 20 --sample 20", 2,
     "--sample 20 is not one of the 20 test images, which are counted from 0"},
    {"prediction_to_its_checkpoint", "stage01_serial predict --load digits.h5 --csv digits.h5", 2,
     "--load and --csv name the same file, digits.h5"},
    {"prediction_to_its_picture",
     "stage01_serial predict --load digits.h5 --image empty.h5 --csv ./empty.h5", 2,
     "--image and --csv name the same file, empty.h5"},
    {"no_background", "stage01_serial predict --load digits.h5 --image x --background grey", 2,
     "--background: 'grey' is not one of auto, light, dark"},
    {"picture_that_is_none", "stage01_serial predict --load digits.h5 --image text.h5", 1,
     "cannot read the image text.h5: it is neither a PNG nor a PGM or PPM image"},
    {"picture_that_is_empty", "stage01_serial predict --load digits.h5 --image empty.h5", 1,
     "cannot read empty.h5: the file is empty"},
    {"picture_for_numbers", "stage01_serial predict --load neuron.h5 --image text.h5", 1,
     "the network of neuron.h5 takes samples of shape [1], which are no pictures"},
    {"picture_for_a_foreign_network", "stage01_serial predict --load other.h5 --image text.h5", 1,
     "the checkpoint other.h5 does not say what its samples are; train --load other.h5 --save FILE "
     "adds that"},
    {"evaluation_and_report", "stage01_serial evaluate --load digits.h5 --report ./digits.h5", 2,
     "--load and --report name the same file, digits.h5"},
    {"load_and_report", "stage01_serial train --load digits.h5 --report digits.h5", 2,
     "--load and --report name the same file, digits.h5"},
    {"resume_and_report", "stage01_serial train --resume digits.h5 --report folder/../digits.h5", 2,
     "--resume and --report name the same file, digits.h5"},
    {"load_and_resume", "stage01_serial train --load digits.h5 --resume digits.h5", 2,
     "--resume and --load exclude one another: the first continues a training, the second begins a "
     "new one"},
};
INSTANTIATE_TEST_SUITE_P(Values, WrongCommand, testing::ValuesIn(values), name_of);

/// What is no number, or none that the option takes.
class WrongNumber : public CommandLine {
 protected:
  void expect_refused(const std::string& command, const std::string& option,
                      const std::vector<std::string>& numbers, const std::string& reason) {
    for (const std::string& number : numbers) {
      const std::string written = number == "''" ? "" : number;
      expect_failure(command + " --" + option + " " + number, 2,
                     "--" + option + ": '" + written + "' " + reason);
    }
  }

  const std::vector<std::string> no_counts = {"x",  "''",  "1.5", "1e3",  "-1",
                                              "+1", "nan", "inf", "0x10", "10,000"};
  const std::vector<std::string> no_reals = {"x",   "''",   "-0.1", "nan", "-nan",
                                             "inf", "-inf", "0x10", "1,5", "0.1f"};
  const std::string too_large = "99999999999999999999";
  const std::string beyond = "is beyond the numbers that can be computed with";
};

TEST_F(WrongNumber, IsNoCountOfAtLeastOne) {
  for (const std::string option : {"batch-size", "train-limit", "test-limit", "save-every"}) {
    expect_refused("stage01_serial train", option, no_counts,
                   "is not a whole number of at least 1");
    expect_refused("stage01_serial train", option, {"0"}, "is not a whole number of at least 1");
    expect_refused("stage01_serial train", option, {too_large}, beyond);
    expect_refused("stage01_serial train", option, {"-" + too_large},
                   "is not a whole number of at least 1");
  }
}

TEST_F(WrongNumber, IsNoCountOfAtLeastZero) {
  expect_refused("stage01_serial train", "validation", no_counts,
                 "is not a whole number of at least 0");
  expect_refused("stage01_serial train", "validation", {too_large}, beyond);
  expect_refused("stage01_serial train", "validation", {"-" + too_large},
                 "is not a whole number of at least 0");
}

TEST_F(WrongNumber, IsNoNumberOfEpochs) {
  const std::string reason = "is not a whole number from 0 to 1000000000";
  expect_refused("stage01_serial train", "epochs", no_counts, reason);
  expect_refused("stage01_serial train", "epochs", {"1000000001", too_large}, reason);
}

TEST_F(WrongNumber, IsNoSeed) {
  expect_refused("stage01_serial train", "seed", no_counts,
                 "is not a whole number from 0 to 2^64 - 1");
  expect_refused("stage01_serial train", "seed", {"18446744073709551616"},
                 "is not a whole number from 0 to 2^64 - 1");
  expect_refused("make_dataset --output x", "seed", no_counts,
                 "is not a whole number from 0 to 2^64 - 1");
  expect_refused("make_dataset --output x", "seed", {"18446744073709551616"},
                 "is not a whole number from 0 to 2^64 - 1");
}

TEST_F(WrongNumber, IsNoRealNumber) {
  expect_refused("stage01_serial train", "learning-rate", no_reals,
                 "is not a number greater than 0");
  expect_refused("stage01_serial train", "learning-rate", {"0", "-0"},
                 "is not a number greater than 0");
  expect_refused("stage01_serial train", "l2", no_reals, "is not a number of at least 0");
  for (const std::string option : {"learning-rate", "l2"}) {
    expect_refused("stage01_serial train", option, {"1e999", "1e-999"}, beyond);
  }
}

TEST_F(WrongNumber, IsNoSizeOfAFile) {
  for (const std::string option : {"train", "test"}) {
    expect_refused("make_dataset --output x", option, no_counts,
                   "is not a whole number from 0 to 4294967295");
    expect_refused("make_dataset --output x", option, {"4294967296", too_large},
                   "is not a whole number from 0 to 4294967295");
  }
}

TEST_F(WrongNumber, IsNoTolerance) {
  const std::string command = "compare_checkpoints digits.h5 digits.h5";
  expect_refused(command, "tolerance", no_reals, "is not a number of at least 0");
  expect_refused(command, "tolerance", {"1e999"}, beyond);
}

const std::vector<Failure> elsewhere = {
    {"gemm", "stage01_serial gemm --size 1024", 2,
     "gemm is offered by ladder, not by stage01_serial"},
    {"reduce", "stage01_serial reduce", 2, "reduce is offered by ladder, not by stage01_serial"},
    {"transpose", "stage01_serial transpose", 2,
     "transpose is offered by ladder, not by stage01_serial"},
    {"convolution", "stage01_serial convolution", 2,
     "convolution is offered by ladder, not by stage01_serial"},
    {"gemm_of_stage03", "stage03_shared_memory gemm --rung tile-16", 2,
     "gemm is offered by ladder, not by stage03_shared_memory"},
    {"transpose_of_stage04", "stage04_minibatch transpose --help", 2,
     "transpose is offered by ladder, not by stage04_minibatch"},
    {"block_size", "stage01_serial train --block-size 128", 2,
     "--block-size is offered by stage02_naive_cuda, not by stage01_serial"},
    {"block_size_without_value", "stage01_serial train --block-size", 2,
     "--block-size is offered by stage02_naive_cuda, not by stage01_serial"},
    {"workers_of_evaluate", "stage01_serial evaluate --load digits.h5 --workers 2", 2,
     "option '--workers' is unknown; stage01_serial evaluate --help lists what there is"},
    {"strategy", "stage01_serial train --strategy tensor", 2,
     "--strategy is offered by stage05_mpi, not by stage01_serial"},
    {"transport", "stage01_serial train --transport nccl", 2,
     "--transport is offered by stage05_mpi, not by stage01_serial"},
    {"transport_of_evaluate", "stage01_serial evaluate --load digits.h5 --transport nccl", 2,
     "--transport is offered by stage05_mpi, not by stage01_serial"},
};
INSTANTIATE_TEST_SUITE_P(OtherStages, WrongCommand, testing::ValuesIn(elsewhere), name_of);

const std::vector<Failure> data_files = {
    {"mnist_missing", "stage01_serial train --dataset mnist", 1,
     "the data set mnist needs the file datasets/mnist/train-images-idx3-ubyte (or the same with "
     ".gz), which is not there: let --data-dir or STAGEWISE_DATA_DIR name the folder that holds "
     "mnist/ (now: datasets), or fetch the data as datasets/README.md says"},
    {"mnist_missing_in_folder", "stage01_serial train --dataset mnist --data-dir folder", 1,
     "the data set mnist needs the file folder/mnist/train-images-idx3-ubyte (or the same with "
     ".gz), which is not there: ..."},
    {"idx_missing", "stage01_serial train --dataset my-images --format idx", 1,
     "cannot read my-images: there is no such file"},
    {"idx_without_labels_name", "stage01_serial train --dataset text.h5 --format idx", 1,
     "cannot tell which labels belong to text.h5: ..."},
    {"wholesale_missing", "stage01_serial train --dataset wholesale", 1,
     "the data set wholesale needs the file datasets/wholesale/wholesale-customers.csv (or the "
     "same "
     "with .gz), which is not there: ..."},
    {"cifar10_missing", "stage01_serial train --dataset cifar10", 1,
     "the data set cifar10 needs the file datasets/cifar10/data_batch_1.bin (or the same with "
     ".gz), "
     "which is not there: ..."},
    {"csv_missing", "stage01_serial train --dataset none.csv --format csv --label x", 1,
     "cannot read none.csv: there is no such file"},
    {"hdf5_of_text", "stage01_serial train --dataset text.h5 --format hdf5", 1,
     "cannot read text.h5: it is not an HDF5 file"},
    {"cifar10_of_text", "stage01_serial train --dataset text.h5 --format cifar10", 1,
     "text.h5 is cut short or no CIFAR-10 file: ..."},
    {"idx_of_labels", "stage01_serial train --dataset digits/images-t10k --format idx", 1,
     "cannot read digits/images-t10k: there is no such file"},
};
INSTANTIATE_TEST_SUITE_P(DataFiles, WrongCommand, testing::ValuesIn(data_files), name_of);

TEST_F(CommandLine, SaysWhichDataFileIsWrong) {
  make_input("digits");
  const std::string images = "digits/train-images-idx3-ubyte";
  const std::string command = "stage01_serial train --format idx --dataset " + images;
  const Bytes whole = read_file(path(images));

  write_file(path(images), Bytes(whole.begin(), whole.begin() + 1000));
  expect_failure(command, 1,
                 images +
                     " is cut short: its header announces 50 images of 28 x 28 pixels, but "
                     "only 984 bytes follow it");
  write_file(path(images), {});
  expect_failure(command, 1, "cannot read " + images + ": the file is empty");
  write_file(path(images), {'h', 'e', 'l', 'l', 'o'});
  expect_failure(command, 1,
                 images +
                     " is not an IDX file of images: it begins with 0x68656c6c where "
                     "0x00000803 was expected");
  write_file(path(images), whole);
  std::filesystem::remove(path("digits/train-labels-idx1-ubyte"));
  expect_failure(command, 1, "cannot read digits/train-labels-idx1-ubyte: there is no such file");
}

const std::vector<Failure> checkpoints = {
    {"missing", "stage01_serial evaluate --load none.h5", 1,
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"folder", "stage01_serial evaluate --load folder", 1,
     "the checkpoint folder cannot be read: it is a folder, not a file"},
    {"fifo", "stage01_serial evaluate --load fifo", 1,
     "the checkpoint fifo cannot be read: it is not a regular file"},
    {"device", "stage01_serial evaluate --load /dev/zero", 1,
     "the checkpoint /dev/zero cannot be read: it is not a regular file"},
    {"empty", "stage01_serial evaluate --load empty.h5", 1,
     "the checkpoint empty.h5 cannot be read: it is not an HDF5 file"},
    {"text", "stage01_serial evaluate --load text.h5", 1,
     "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"cut_in_half", "stage01_serial evaluate --load cut.h5", 1,
     "the checkpoint cut.h5 cannot be read: it is damaged, cut short, or may not be opened"},
    {"not_a_number", "stage01_serial evaluate --load nan.h5", 1,
     "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN in its value number 79 (counted "
     "from 0), so the network is of no use"},
    {"train_from_not_a_number", "stage01_serial train --load nan.h5", 1,
     "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN ..."},
    {"resume_not_a_number", "stage01_serial train --resume nan.h5", 1,
     "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN ..."},
    {"train_from_missing", "stage01_serial train --load none.h5", 1,
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"train_from_text", "stage01_serial train --load text.h5", 1,
     "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"train_from_half", "stage01_serial train --load cut.h5", 1,
     "the checkpoint cut.h5 cannot be read: it is damaged, cut short, or may not be opened"},
    {"resume_missing", "stage01_serial train --resume none.h5", 1,
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"resume_half", "stage01_serial train --resume cut.h5", 1,
     "the checkpoint cut.h5 cannot be read: it is damaged, cut short, or may not be opened"},
    {"other_model", "stage01_serial evaluate --load digits.h5 --model neuron", 1,
     "--model neuron contradicts the checkpoint digits.h5, which has mlp; leave the option out, or "
     "name another checkpoint"},
    {"other_precision", "stage01_serial evaluate --load digits.h5 --precision double", 1,
     "--precision double contradicts the checkpoint digits.h5, which has float; leave the option "
     "out, or name another checkpoint"},
    {"other_data", "stage01_serial evaluate --load digits.h5 --dataset step", 1,
     "the checkpoint digits.h5 is for shape [28, 28, 1] and 10 classes, but the data have [1] and "
     "2 classes"},
    {"other_width", "stage01_serial train --load digits.h5 --hidden 9", 1,
     "--hidden 9 contradicts the checkpoint digits.h5, which has 8; leave the option out, or name "
     "another checkpoint"},
    {"other_shape", "stage01_serial train --load digits.h5 --dataset step", 1,
     "the parameters of the checkpoint digits.h5 do not fit step: the shape of a sample is [1] and "
     "was [28, 28, 1], there are 2 classes and were 10"},
    {"other_width_unsaid", "stage01_serial train --load other.h5", 1,
     "the parameter 'fc1/weight' of the checkpoint other.h5 has shape [784, 8], but this network "
     "needs [784, 256]"},
    {"too_many_layers", "stage01_serial train --load other.h5 --hidden none", 1,
     "the checkpoint other.h5 holds a parameter 'fc2/bias' that this network does not have"},
    {"too_few_layers", "stage01_serial train --load other.h5 --hidden 8,10", 1,
     "the checkpoint other.h5 holds no parameter 'fc3/weight', which this network needs"},
    {"neuron_of_ten_classes", "stage01_serial evaluate --load neuron.h5 --dataset digits", 1,
     "the checkpoint neuron.h5 is for shape [1] and 2 classes, but the data have [28, 28, 1] and "
     "10 classes"},
};
INSTANTIATE_TEST_SUITE_P(Checkpoints, WrongCommand, testing::ValuesIn(checkpoints), name_of);

/// "stage01_serial train --resume digits.h5 --X Y" with what the checkpoint has instead of Y.
struct Contradiction {
  const char* option;
  const char* written;
  const char* stored;
  const char* remedy;
};

class Resumption : public CommandLine, public testing::WithParamInterface<Contradiction> {};

TEST_P(Resumption, RefusesToChange) {
  const auto [option, written, stored, remedy] = GetParam();
  const std::string change = std::string("--") + option + " " + written;
  expect_failure("stage01_serial train --resume digits.h5 " + change, 1,
                 change + " contradicts the checkpoint digits.h5, which has " + stored +
                     "; leave the option out, or " + remedy);
}

constexpr const char* another = "name another checkpoint";
constexpr const char* afresh = "start a new training from these parameters with --load";
INSTANTIATE_TEST_SUITE_P(Train, Resumption,
                         testing::Values(Contradiction{"model", "neuron", "mlp", another},
                                         Contradiction{"precision", "double", "float", another},
                                         Contradiction{"hidden", "9", "8", another},
                                         Contradiction{"activation", "sigmoid", "relu", another},
                                         Contradiction{"loss", "squared-error", "cross-entropy",
                                                       another},
                                         Contradiction{"dataset", "step", "digits", afresh},
                                         Contradiction{"format", "idx", "none", afresh},
                                         Contradiction{"train-limit", "50", "60", afresh},
                                         Contradiction{"validation", "10", "0", afresh},
                                         Contradiction{"batch-size", "10", "20", afresh},
                                         Contradiction{"learning-rate", "0.2", "0.15", afresh},
                                         Contradiction{"optimizer", "adam", "sgd", afresh},
                                         Contradiction{"schedule", "cosine", "constant", afresh},
                                         Contradiction{"warmup", "3", "0", afresh},
                                         Contradiction{"gemm", "blas", "reordered", afresh},
                                         Contradiction{"l2", "0.1", "0", afresh},
                                         Contradiction{"biases", "off", "on", another},
                                         Contradiction{"workers", "2", "1", afresh},
                                         Contradiction{"seed", "2", "1", afresh},
                                         Contradiction{"shuffle", "off", "on", afresh}),
                         [](const auto& test) { return test_name(test.param.option); });

const std::vector<Failure> resumptions = {
    {"too_few_epochs", "stage01_serial train --resume digits.h5 --epochs 1", 2,
     "--epochs 1 is the total, but the checkpoint digits.h5 already has 2 epochs"},
    {"no_settings", "stage01_serial train --resume other.h5", 1,
     "the checkpoint other.h5 does not say how it was trained, so its training cannot be resumed; "
     "start a new one from its parameters with --load"},
};
INSTANTIATE_TEST_SUITE_P(Resumptions, WrongCommand, testing::ValuesIn(resumptions), name_of);

TEST_F(CommandLine, ResumesOnlyWhatSaysAllOfItsTraining) {
  make_input("digits.h5");
  const Checkpoint whole = load_checkpoint(path("digits.h5"));
  const std::string remedy =
      ", so its training cannot be resumed; start a new one from its parameters with --load";
  for (const std::string name : {"l2", "dataset", "workers", "shuffle"}) {
    Checkpoint part = whole;
    ASSERT_EQ(part.settings.erase(name), 1U);
    save_checkpoint(path("part.h5"), part);
    expect_failure("stage01_serial train --resume part.h5", 1,
                   "the checkpoint part.h5 does not say its " + name + remedy);
  }
  // The library's own functions write an epoch and a step always; others may not.
  for (const std::string name : {"seed", "epoch", "step"}) {
    save_checkpoint(path("part.h5"), whole);
    const hid_t file = H5Fopen(path("part.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Adelete(file, name.c_str()), 0);
    ASSERT_GE(H5Adelete(file, "checksum"), 0);
    H5Fclose(file);
    expect_failure("stage01_serial train --resume part.h5", 1,
                   "the checkpoint part.h5 does not say its " + name + remedy);
  }
  Checkpoint part = whole;
  ASSERT_EQ(part.settings.erase("epochs"), 1U);
  save_checkpoint(path("part.h5"), part);
  expect_failure("stage01_serial train --resume part.h5", 2,
                 "--epochs is needed: the checkpoint part.h5 does not say how many epochs its "
                 "training was to have");
  run_well("stage01_serial train --resume part.h5 --epochs 3");
}

/// What is wrong with a checkpoint is not blamed on options that nobody has written.
TEST_F(CommandLine, SaysWhichAttributeOfACheckpointIsWrong) {
  make_input("digits.h5");
  Checkpoint whole = load_checkpoint(path("digits.h5"));
  whole.settings["average"] = "gradients";  // for those of several workers
  whole.settings["average-every"] = "1";
  const auto expect = [&](const std::string& command, const std::string& attribute,
                          const std::string& value, const std::string& sentence) {
    Checkpoint bad = whole;
    (attribute == "model" ? bad.model : bad.settings[attribute]) = value;
    save_checkpoint(path("bad.h5"), bad);
    expect_failure("stage01_serial " + command + " bad.h5", 1, "the checkpoint bad.h5" + sentence);
  };
  const auto unusable = [](const std::string& attributes) {
    return ", which sets " + attributes + ", cannot be used here: ";
  };
  const std::string resume = "train --resume";
  expect(
      resume, "batch-size", "200",
      unusable("'batch-size'") + "--batch-size 200 is larger than the training set of 60 samples");
  expect(resume, "batch-size", "many",
         " is of no use: of its 'batch-size', 'many' is not a whole "
         "number of at least 1");
  expect(resume, "learning-rate", "1e-50",
         unusable("'learning-rate', 'precision'") + "--learning-rate 1e-50 is 0 in float; ...");
  expect(resume, "train-limit", "20000",
         unusable("'train-limit'") +
             "--train-limit 20000 asks for more than the 10,000 training samples of digits");
  expect(resume, "validation", "60", unusable("'validation'") + "--validation 60 leaves ...");
  expect(resume, "workers", "100", unusable("'batch-size', 'workers'") + "--workers 100 ...");
  expect(resume, "dataset", "letters",
         unusable("'dataset'") + "--dataset letters is not a data set ...");
  for (const std::string& command : {resume, std::string("evaluate --load")}) {
    expect(command, "format", "png", unusable("'format'") + "--format png is not ...");
  }
  expect(resume, "label", "kind", unusable("'label'") + "--label names a column ...");
  expect(resume, "epochs", std::string(300, '1'),
         " is of no use: of its 'epochs', '" + std::string(40, '1') +
             "...' is not a whole number ...");
  for (const std::string command : {"train --epochs 1 --load", "evaluate --load"}) {
    expect(command, "model", "neuron", unusable("'model'") + "--model neuron tells two ...");
    expect(command, "hidden", "16777216",
           " contradicts itself: its 'hidden' is 16777216, but it "
           "holds a parameter 'fc1/weight' of shape [784, 8]");
    expect(command, "biases", "off",
           " contradicts itself: its 'biases' is off, but it holds a "
           "parameter 'fc1/bias' of shape [8]");
    expect(command, "activation", "tanh",
           " is of no use: of its 'activation', there is no "
           "activation 'tanh'");
  }
  expect("evaluate --load", "class-count", "ten",
         " is of no use: its 'sample-shape' of "
         "'28,28,1' or its 'class-count' of 'ten' is not made of whole numbers of at least 1");
  // The user is blamed for what the user wrote or left out, whatever files are called.
  expect_failure("stage01_serial train --load digits.h5 --batch-size 200 --train-limit 60", 2,
                 "--batch-size 200 is larger than the training set of 60 samples");
  const std::string table = "a,class\n1,0\n2,1\n";
  write_file(path("x--hidden.csv"), Bytes(table.begin(), table.end()));
  expect_failure(
      "stage01_serial train --load digits.h5 --dataset x--hidden.csv --format csv", 2,
      "--label must name the column of x--hidden.csv that holds the class; the columns are ...");
}

TEST_F(CommandLine, NamesTheCheckpointWhoseDataAreGone) {
  const std::string table = "a,class\n1,0\n2,1\n3,0\n4,1\n5,0\n";
  write_file(path("table.csv"), Bytes(table.begin(), table.end()));
  run_well(
      "stage01_serial train --dataset table.csv --format csv --label class --batch-size 2 --epochs "
      "1 --save table.h5");
  std::filesystem::remove(path("table.csv"));
  for (const std::string command :
       {"train --resume table.h5 --epochs 2", "evaluate --load table.h5"}) {
    expect_failure("stage01_serial " + command, 1,
                   "cannot read table.csv: there is no such file; the checkpoint table.h5 names "
                   "this data set, --dataset another");
  }
}

TEST_F(CommandLine, ResumesOnTheSameNumberOfSamplesOnly) {
  make_input("digits");
  const std::string images = "--format idx --dataset digits/train-images-idx3-ubyte";
  run_well("stage01_serial train --hidden 8 --batch-size 10 --epochs 1 --save a.h5 " + images);
  run_well("make_dataset --train 100 --test 20 --output digits");
  expect_failure("stage01_serial train --resume a.h5 " + images, 1,
                 "the checkpoint a.h5 was trained on other data than "
                 "digits/train-images-idx3-ubyte: there are 80 training samples and were 40");
  Checkpoint old = load_checkpoint(path("a.h5"));  // as earlier versions wrote them
  std::erase_if(old.settings,
                [](const auto& setting) { return setting.first.starts_with("data-"); });
  save_checkpoint(path("a.h5"), old);
  expect_failure("stage01_serial train --resume a.h5 " + images, 1,
                 "the checkpoint a.h5 stopped after 4 steps in 1 epoch, which does not fit 80 "
                 "training samples; it was trained on other data");
}

TEST_F(CommandLine, StopsWhenTheLossIsNoNumberAndSavesNothing) {
  make_input("digits.h5");
  const Bytes before = read_file(path("digits.h5"));
  for (const std::string precision : {"float", "double"}) {
    const std::string rate = precision == "float" ? "1e+30" : "1e+300";
    expect_failure(short_training + " --epochs 3 --save digits.h5 --save-every 1 --precision " +
                       precision + " --learning-rate " + rate,
                   1,
                   "the loss became NaN in epoch 1, step 2, and training stopped; a learning "
                   "rate smaller than " +
                       rate + " may help, unless an operation computes wrong numbers");
    EXPECT_EQ(read_file(path("digits.h5")), before);
  }
}

/// The learning rate is blamed for nothing that it has not done.
TEST_F(CommandLine, SaysWhyTheLossIsNoNumber) {
  const std::string train = short_training + " --epochs 3 ";
  expect_failure(train + "--l2 1e30", 1,
                 "the loss became NaN in epoch 1, step 2, and training stopped; the learning rate "
                 "0.15 times the l2 of 1e+30 is 1.5e+29, and above 2 every step makes the weights "
                 "larger");
  const std::string gaussian =
      "stage01_serial train --dataset gaussian --samples 50 --batch-size 5 --hidden 4 ";
  const auto expect_reason = [&](const std::string& options, const std::string& reason) {
    const Outcome outcome = run(gaussian + options);
    EXPECT_EQ(outcome.exit_code, 1) << options;
    EXPECT_NE(outcome.err.find(", and training stopped; " + reason), std::string::npos)
        << outcome.err;
  };
  expect_reason(
      "--spacing 1e30",
      "inputs up to 1e+30 should be scaled, or a learning rate smaller than 0.15 may help");
  expect_reason("--spacing 1e38 --deviation 1e37 --loss squared-error",
                "that was before the first update, so the learning rate is not the cause, but "
                "inputs up to ");
  expect_failure(gaussian + "--spacing 1e300", 1,
                 "gaussian, training sample 1, value 0 (counted from 0): the value is 1e+300, and "
                 "float holds numbers up to 3.4e+38; --precision double holds larger ones");
}

TEST_F(CommandLine, SaysWhichValueOfATableIsTooLarge) {
  const auto write = [&](const std::string& training, const std::string& test) {
    std::string table = "a,b,class\n";
    for (int i = 0; i < 8; ++i) {
      const std::string value = i == 5 ? training : std::to_string(i);
      table += std::to_string(i) + "," + value + "," + std::to_string(i % 2) + "\n";
    }
    table += "1,2,0\n3," + test + ",1\n";
    write_file(path("table.csv"), Bytes(table.begin(), table.end()));
  };
  const std::string command =
      "stage01_serial train --dataset table.csv --format csv --label class --batch-size 2 "
      "--epochs 1 --save table.h5 ";
  write("1e300", "2");
  for (const std::string precision : {"float", "double"}) {
    expect_failure(command + "--precision " + precision, 1,
                   "table.csv, row 6 below the header, column b: the value is too large for a mean "
                   "and a deviation of this feature in double");
  }
  write("2", "1e300");
  expect_failure(
      command, 1,
      "table.csv, row 10 below the header, column b: the value becomes, standardized, "
      "4.42e+299, and float holds numbers up to 3.4e+38; --precision double holds larger "
      "ones");
  write("2", "2");
  run_well(command);
  write("2", "1e300");
  expect_failure("stage01_serial evaluate --load table.h5", 1,
                 "table.csv, row 10 below the header, column b: the value becomes, standardized, "
                 "...");
}

TEST_F(CommandLine, SavesNothingThatTheLastStepSpoiled) {
  make_input("digits.h5");
  const Bytes before = read_file(path("digits.h5"));
  expect_failure(
      "stage01_serial train --train-limit 20 --batch-size 20 --epochs 1 --loss "
      "squared-error --activation sigmoid --l2 1e30 --learning-rate 1e30 "
      "--save digits.h5",
      1,
      "the parameter 'fc1/weight' became NaN or infinite in epoch 1, step 1, and training stopped; "
      "the learning rate 1e+30 times the l2 of 1e+30 is 1e+60, and above 2 every step makes the "
      "weights larger");
  EXPECT_EQ(read_file(path("digits.h5")), before);
}

TEST_F(CommandLine, ReadsNoNamesThatACheckpointCouldNotKeep) {
  const std::string command = "stage01_serial train --dataset table.csv --format csv --label b";
  const auto write = [&](const std::string& table) {
    write_file(path("table.csv"), Bytes(table.begin(), table.end()));
  };
  const std::string reason =
      ": the name is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8";
  for (const std::string wrong : {"\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                  "\xf4\x90\x80\x80", "\xe2\x82", "\xe0\x80\x80", "\x80"}) {
    write("a,x" + wrong + ",b\n1,2,u\n2,3,v\n");
    expect_failure(command, 1, "table.csv, line 1, column 2" + reason);
    write("a,x,b\n1,2,u\n2,3,v" + wrong + "\n");
    expect_failure(command, 1, "table.csv, line 3, column b" + reason);
  }
  write(
      "gr\xc3\xb6\xc3\x9f"
      "e,b\n1,\xe2\x82\xac\n2,\xf0\x9f\x98\x80\n3,\xe2\x82\xac\n");
  run_well(command + " --batch-size 1 --epochs 1 --save table.h5");
  run_well("stage01_serial evaluate --load table.h5");
}

TEST_F(CommandLine, QuotesTheBeginningOfWhatIsLong) {
  const std::string ones(300, '1');
  const std::string ten_thousand(10000, 'x');
  const auto begin = [](const std::string& text) { return "'" + text.substr(0, 40) + "...'"; };
  const std::string train = "stage01_serial train --";
  expect_failure(train + "epochs " + ones, 2,
                 "--epochs: " + begin(ones) + " is not a whole number from 0 to 1000000000");
  expect_failure(train + "batch-size " + ones, 2,
                 "--batch-size: " + begin(ones) +
                     " is beyond the numbers that can be computed "
                     "with");
  expect_failure(train + "learning-rate " + ones + ones, 2,
                 "--learning-rate: " + begin(ones) +
                     " is beyond the numbers that can be computed "
                     "with");
  expect_failure(train + "learning-rate " + ones + "x", 2,
                 "--learning-rate: " + begin(ones) + " is not a number greater than 0");
  expect_failure(train + "hidden " + ones, 2,
                 "--hidden: " + begin(ones) + " is not a whole number from 1 to 16777216; ...");
  expect_failure(train + "model " + ten_thousand, 2,
                 "--model: " + begin(ten_thousand) + " is not one of mlp, ...");
  expect_failure(train + "loss " + ten_thousand, 2,
                 "--loss: there is no loss " + begin(ten_thousand));
  expect_failure(train + "save " + ten_thousand, 2,
                 "--save: " + begin(ten_thousand) + " has 10,000 bytes, and a name at most 4,095");
  expect_failure(train + ten_thousand, 2,
                 "option '--" + ten_thousand.substr(0, 38) + "...' is unknown; ...");
  expect_failure(train + "dataset " + ones, 2,
                 "--dataset " + ones.substr(0, 40) + "... is not ...");
}

TEST_F(CommandLine, EndsASentenceAsItIsMeant) {
  const hid_t file = H5Fcreate(path("x.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto write = [&](const char* name, int rank, const double* numbers) {
    constexpr std::array<hsize_t, 2> sizes = {2, 1};
    const hid_t space = H5Screate_simple(rank, sizes.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(set);
    H5Sclose(space);
  };
  constexpr std::array numbers = {0.0, 0.5};
  write("x", 2, numbers.data());
  write("y", 1, numbers.data());
  H5Fclose(file);
  const Outcome outcome = run("stage01_serial train --dataset x.h5 --format hdf5");
  EXPECT_EQ(outcome.err,
            "stage01_serial: cannot read x.h5: entry 1 (counted from 0) of /y is no class number: "
            "0, 1, 2, ...\n");
}

TEST_F(CommandLine, ShowsNoControlCharactersOfFiles) {
  write_file(path("table.csv"), {'\033', '[', '7', 'm', ',', 'b', '\n', '1', ',', '2', '\n'});
  expect_failure("stage01_serial train --dataset table.csv --format csv --label x", 2,
                 "--label x is not a column of table.csv, whose columns are \\x1b[7m, b");
}

TEST_F(CommandLine, AsksForMoreMemoryThanThereIs) {
  if (sanitized) GTEST_SKIP() << "AddressSanitizer ends programs that ask for too much memory";
  expect_failure("stage01_serial train --hidden 16777216,16777216", 1,
                 "the network, for a batch of 100 samples, needs at least ...");
}

const std::vector<Failure> tools = {
    {"compare_nothing", "compare_checkpoints", 2, "A is required"},
    {"compare_one", "compare_checkpoints digits.h5", 2, "B is required"},
    {"compare_three", "compare_checkpoints digits.h5 digits.h5 digits.h5", 2,
     "argument 'digits.h5' is unknown; compare_checkpoints --help lists what there is"},
    {"compare_unknown_option", "compare_checkpoints digits.h5 digits.h5 --exact", 2,
     "option '--exact' is unknown; compare_checkpoints --help lists what there is"},
    {"compare_tolerance_missing", "compare_checkpoints digits.h5 digits.h5 --tolerance", 2,
     "--tolerance needs a value"},
    {"compare_first_missing", "compare_checkpoints none.h5 digits.h5", 2,
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"compare_second_missing", "compare_checkpoints digits.h5 none.h5", 2,
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"compare_folder", "compare_checkpoints digits.h5 folder", 2,
     "the checkpoint folder cannot be read: it is a folder, not a file"},
    {"compare_text", "compare_checkpoints digits.h5 text.h5", 2,
     "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"compare_cut", "compare_checkpoints digits.h5 cut.h5", 2,
     "the checkpoint cut.h5 cannot be read: it is damaged, cut short, or may not be opened"},
    {"compare_shapes", "compare_checkpoints digits.h5 neuron.h5", 1,
     "the parameter 'fc1/bias' has shape [8] in digits.h5 and [1] in neuron.h5"},
    {"make_no_output", "make_dataset", 2, "--output is required"},
    {"make_output_missing", "make_dataset --output", 2, "--output needs a value"},
    {"make_output_empty", "make_dataset --output ''", 2,
     "--output: a name was expected, but it is empty"},
    {"make_output_is_a_file", "make_dataset --output text.h5", 1,
     "cannot create the folder --output text.h5: Not a directory"},
    {"make_output_below_a_file", "make_dataset --output text.h5/x", 1,
     "cannot create the folder --output text.h5/x: Not a directory"},
    {"make_output_locked", "make_dataset --output locked/x", 1,
     "cannot create the folder --output locked/x: Permission denied"},
    {"make_unknown_option", "make_dataset --output x --size 3", 2,
     "option '--size' is unknown; make_dataset --help lists what there is"},
    {"make_unknown_dataset", "make_dataset --output x --dataset letters", 2,
     "--dataset letters is not a data set that can be generated; ..."},
    {"make_unknown_format", "make_dataset --output x --format png", 2,
     "--format png is not a format that can be written; ..."},
    {"make_images_of_steps", "make_dataset --output x --dataset step --format idx", 2,
     "--dataset step has no images, and an IDX file holds nothing else; ..."},
    {"make_nothing", "make_dataset --output x --train 0 --test 0", 2,
     "--train 0 and --test 0 together leave nothing to write"},
};
INSTANTIATE_TEST_SUITE_P(Tools, WrongCommand, testing::ValuesIn(tools), name_of);

}  // namespace
}  // namespace stagewise
