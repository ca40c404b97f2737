// What happens to a command that cannot be carried out: an exit code, one sentence, and all files
// as they were.

#include <array>
#include <string>
#include <vector>

#include <hdf5.h>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class Failures : public CommandLine {
 protected:
  Failures() { surroundings_.heeds_permissions = true; }
};

const std::string train = "stage01_serial train ";
const std::string evaluate = "stage01_serial evaluate --load ";

// ------------------------------------------------------------------------------------ wrong usage

const Sayings words = {
    {"", "say what to do: train, evaluate, predict or info (see stage01_serial --help)"},
    {"trian", "argument 'trian' is unknown; did you mean train?"},
    {"--fast", "option '--fast' is unknown; stage01_serial --help lists what there is"},
    {"gemm --size 1024", "gemm is offered by ladder, not by stage01_serial"},
    {"train --epoch 3", "option '--epoch' is unknown; did you mean --epochs?"},
    {"train -e 3", "option '-e' is unknown; stage01_serial train --help lists what there is"},
    {"info --all", "option '--all' is unknown; stage01_serial info --help lists what there is"},
    {"train mnist now", "argument 'mnist' is unknown; stage01_serial train --help lists what ..."},
    {"train evaluate", "argument 'evaluate' is unknown; ..."},
    {"evaluate --load digits.h5 --epochs 3", "option '--epochs' is unknown; ..."},
    {"evaluate --load digits.h5 --workers 2", "option '--workers' is unknown; ..."},
    {"evaluate --load digits.h5 --transport nccl", "--transport is offered by stage05_mpi, ..."},
    {"evaluate", "--load is required"},
    {"train --latency", "option '--latency' is unknown; ..."},
    {"train --timings=no", "--timings takes no value"},
    {"train --timings 3", "argument '3' is unknown; ..."},
    {"train --epochs 1 --epochs 2", "--epochs is given more than once"},
    {"train --save --epochs 3", "argument '3' is unknown; ..."},
    {"train --hidden", "--hidden needs a value"},
    {"train --hidden=", "--hidden needs a value"},
    {"train --epochs", "--epochs needs a value"},
    {"train --load=", "--load needs a value"},
    {"train --gemm", "--gemm needs a value"},
};

TEST_F(Failures, OfWords) {
  expect_failures("stage01_serial ", 2, words);
}

const Sayings values = {
    {"model transformer", "--model: 'transformer' is not one of mlp, ..."},
    {"model ''", "--model: '' is not one of mlp, ..."},
    {"activation tanh", "--activation: there is no activation 'tanh'"},
    {"loss hinge", "--loss: there is no loss 'hinge'"},
    {"precision half", "--precision: 'half' is not one of float, double"},
    {"shuffle yes", "--shuffle: 'yes' is neither on nor off"},
    {"biases some", "--biases: 'some' is neither on nor off"},
    {"average median", "--average: 'median' is not one of gradients, weights"},
    {"gemm blocked", "--gemm: 'blocked' is not one of naive, reordered, blas"},
    {"dataset letters", "--dataset letters is not a data set of this version, which has ..."},
    {"dataset ''", "--dataset: a name was expected, but it is empty"},
    {"save ''", "--save: a name was expected, but it is empty"},
    {"dataset x --format png", "--format png is not a format of this version, which reads idx..."},
    {"dataset digits/train-images-idx3-ubyte",
     "--dataset digits/train-images-idx3-ubyte is not a data set of this version, which has "
     "digits, "
     "gaussian, step, mnist, fashion-mnist, cifar10, wholesale; a path needs --format (idx, csv, "
     "cifar10, hdf5)"},
    {"dataset text.h5 --format csv",
     "--label must name the column of text.h5 that holds the class; the columns are hello"},
    {"hidden wide", "'wide' is not a whole number from 1 to 16777216; expected are the widths ..."},
    {"hidden 4,,2", "--hidden: '4,,2' has a comma with no width on one side of it; ..."},
    {"hidden 256,0", "--hidden: '0' is not a whole number from 1 to 16777216; ..."},
    {"hidden 16777217", "--hidden: '16777217' is not a whole number from 1 to 16777216; ..."},
    {"learning-rate 1e-60", "--learning-rate 1e-60 is 0 in float; choose another, or ..."},
    {"load digits.h5 --l2 1e39", "--l2 1e+39 is infinite in float; choose another, or ..."},
    {"train-limit 50", "--batch-size 100 is larger than the training set of 50 samples"},
    {"train-limit 150 --validation 60", "is larger than the training set of 90 samples"},
    {"batch-size 9223372036854775807", "is larger than the training set of 10,000 samples"},
    {"train-limit 10001", "asks for more than the 10,000 training samples of digits"},
    {"test-limit 2001", "--test-limit 2001 asks for more than the 2,000 test samples of digits"},
    {"train-limit 60 --validation 60", "leaves nothing to train on: there are 60 training samples"},
    {"workers 101", "--workers 101 is more than a batch has samples: --batch-size is 100"},
    {"model neuron", "--model neuron tells two classes apart, but the data set has 10"},
    {"model cnn --hidden 9", "--hidden is for --model mlp: the layers of cnn are fixed"},
    {"model cnn --dataset step", "takes images, but a sample of this data set has shape [1]"},
    {"model neuron --dataset step --loss cross-entropy",
     "--loss is for --model mlp: a neuron is one sigmoid unit with a squared error"},
    {"dataset gaussian --classes 1", "--classes: '1' is not a whole number from 2 to 16777216"},
    {"save-every 2", "--save-every 2 needs --save, which names the file"},
    {"save-best x.h5", "--save-best needs --validation: without it, nothing says which epoch ..."},
    {"save result --report ./result", "--save and --report name the same file, result"},
    {"validation 9 --save x --save-best ./x", "--save and --save-best name the same file, x"},
    {"report x --csv ./x", "--report and --csv name the same file, x"},
    {"load digits.h5 --validation 9 --save-best digits.h5", "--load and --save-best name the ..."},
    {"load digits.h5 --report digits.h5", "--load and --report name the same file, digits.h5"},
    {"resume digits.h5 --csv digits.h5", "--resume and --csv name the same file, digits.h5"},
    {"resume digits.h5 --report folder/../digits.h5", "--resume and --report name the same ..."},
    {"load digits.h5 --resume digits.h5",
     "--resume and --load exclude one another: the first continues a training, the second begins a "
     "new one"},
    {"resume digits.h5 --epochs 1",
     "--epochs 1 is the total, but the checkpoint digits.h5 already has 2 epochs"},
};

TEST_F(Failures, OfValues) {
  expect_failures(train + "--", 2, values);
}

const Sayings values_of_others = {
    {"evaluate --load digits.h5 --test-limit 2001", "asks for more than the 2,000 test ..."},
    {"evaluate --load digits.h5 --csv x.csv", "--csv needs --confusion, which is what it writes"},
    {"evaluate --load many.h5 --confusion", "counts up to 1,000 classes, and there are 1,001"},
    {"evaluate --load digits.h5 --report ./digits.h5", "--load and --report name the same ..."},
    {"predict --load digits.h5 --test-limit 20 --sample 20",
     "--sample 20 is not one of the 20 test images, which are counted from 0"},
    {"predict --load digits.h5 --csv digits.h5", "--load and --csv name the same file, digits.h5"},
    {"predict --load digits.h5 --image empty.h5 --csv ./empty.h5",
     "--image and --csv name the same ..."},
    {"predict --load digits.h5 --image x --background grey",
     "'grey' is not one of auto, light, dark"},
};

const Sayings wrong_comparisons = {
    {"", "A is required"},
    {"digits.h5", "B is required"},
    {"digits.h5 digits.h5 digits.h5", "argument 'digits.h5' is unknown; compare_checkpoints ..."},
    {"digits.h5 digits.h5 --exact", "option '--exact' is unknown; compare_checkpoints --help ..."},
    {"digits.h5 digits.h5 --tolerance", "--tolerance needs a value"},
    {"--export x digits.h5", "option '--export' is unknown; ..."},
    {"none.h5 digits.h5", "the checkpoint none.h5 cannot be read: there is no such file"},
    {"digits.h5 folder", "the checkpoint folder cannot be read: it is a folder, not a file"},
    {"digits.h5 cut.h5", "cut.h5 cannot be read: it is damaged, cut short, or may not be opened"},
};

const Sayings wrong_data_sets = {
    {"", "--output is required"},
    {" --output", "--output needs a value"},
    {" --output ''", "--output: a name was expected, but it is empty"},
    {" --output x --size 3", "option '--size' is unknown; make_dataset --help lists what there is"},
    {" --output x --dataset letters", "letters is not a data set that can be generated; ..."},
    {" --output x --format png", "--format png is not a format that can be written; ..."},
    {" --output x --dataset step --format idx", "--dataset step has no images, and an IDX ..."},
    {" --output x --train 0 --test 0", "--train 0 and --test 0 together leave nothing to write"},
};

TEST_F(Failures, OfOtherCommands) {
  expect_failures("stage01_serial ", 2, values_of_others);
  expect_failures("compare_checkpoints ", 2, wrong_comparisons);
  expect_failure("compare_checkpoints digits.h5 neuron.h5", 1,
                 "the parameter 'fc1/bias' has shape [8] in digits.h5 and [1] in neuron.h5");
  expect_failures("make_dataset", 2, wrong_data_sets);
  expect_failures("make_dataset --output ", 1,
                  {{"text.h5", "cannot create the folder --output text.h5: Not a directory"},
                   {"text.h5/x", "cannot create the folder --output text.h5/x: Not a directory"},
                   {"locked/x", "cannot create the folder --output locked/x: Permission denied"}});
}

/// What is no number, or none that an option takes.
struct WrongNumbers {
  std::string command;
  std::string option;
  std::vector<std::string> numbers;
  std::string reason;
};

const std::vector<std::string> no_counts = {"x",  "''",  "1.5", "1e3",  "-1",
                                            "+1", "nan", "inf", "0x10", "10,000"};
const std::vector<std::string> no_reals = {"x",   "''",   "-0.1", "nan", "-nan",
                                           "inf", "-inf", "0x10", "1,5", "0.1f"};
const std::string too_large = "99999999999999999999";
const std::string beyond = "is beyond the numbers that can be computed with";
const std::string same = "compare_checkpoints digits.h5 digits.h5 ";
const std::string make = "make_dataset --output x ";
const std::vector<WrongNumbers> wrong_numbers = {
    {train, "batch-size", no_counts, "is not a whole number of at least 1"},
    {train, "batch-size", {"0", "-" + too_large}, "is not a whole number of at least 1"},
    {train, "batch-size", {too_large}, beyond},
    {train, "train-limit", {"0"}, "is not a whole number of at least 1"},
    {train, "test-limit", {"0"}, "is not a whole number of at least 1"},
    {train, "save-every", {"0"}, "is not a whole number of at least 1"},
    {train, "validation", {"-1", "x"}, "is not a whole number of at least 0"},
    {train,
     "epochs",
     {"-1", "1000000001", too_large},
     "is not a whole number from 0 to 1000000000"},
    {train, "seed", {"-1", "18446744073709551616"}, "is not a whole number from 0 to 2^64 - 1"},
    {train, "learning-rate", no_reals, "is not a number greater than 0"},
    {train, "learning-rate", {"0", "-0"}, "is not a number greater than 0"},
    {train, "learning-rate", {"1e999", "1e-999"}, beyond},
    {train, "l2", {"-0.1", "nan"}, "is not a number of at least 0"},
    {make, "seed", {"-1", "18446744073709551616"}, "is not a whole number from 0 to 2^64 - 1"},
    {make, "train", {"-1", "4294967296", too_large}, "is not a whole number from 0 to 4294967295"},
    {make, "test", {"-1", "4294967296"}, "is not a whole number from 0 to 4294967295"},
    {same, "tolerance", {"-1", "nan"}, "is not a number of at least 0"},
    {same, "tolerance", {"1e999"}, beyond},
};

TEST_F(Failures, OfNumbers) {
  for (const WrongNumbers& wrong : wrong_numbers) {
    for (const std::string& number : wrong.numbers) {
      const std::string quoted = number == "''" ? number : "'" + number + "'";
      expect_failure(wrong.command + "--" + wrong.option + " " + number, 2,
                     "--" + wrong.option + ": " + quoted + " " + wrong.reason);
    }
  }
}

TEST_F(Failures, QuoteTheBeginningOfWhatIsLong) {
  const std::string ones(300, '1');
  const std::string many(10000, 'x');
  const auto begin = [](const std::string& text) { return "'" + text.substr(0, 40) + "...'"; };
  expect_failures(train + "--", 2,
                  {{"epochs " + ones, "--epochs: " + begin(ones) + " is not a whole number from 0"},
                   {"learning-rate " + ones + ones, begin(ones) + " is beyond the numbers"},
                   {"model " + many, "--model: " + begin(many) + " is not one of mlp, ..."},
                   {"save " + many, begin(many) + " has 10,000 bytes, and a name at most 4,095"},
                   {many, "option '--" + many.substr(0, 38) + "...' is unknown; ..."}});
}

// -------------------------------------------------------------------------------------- data files

const Sayings data_files = {
    {"mnist",
     "the data set mnist needs the file datasets/mnist/train-images-idx3-ubyte (or the same with "
     ".gz), which is not there: let --data-dir or STAGEWISE_DATA_DIR name the folder that holds "
     "mnist/ (now: datasets), or fetch the data as datasets/README.md says"},
    {"mnist --data-dir folder", "needs the file folder/mnist/train-images-idx3-ubyte (or the ..."},
    {"my-images --format idx", "cannot read my-images: there is no such file"},
    {"none.csv --format csv --label x", "cannot read none.csv: there is no such file"},
    {"text.h5 --format hdf5", "cannot read text.h5: it is not an HDF5 file"},
    {"text.h5 --format cifar10", "text.h5 is cut short or no CIFAR-10 file: ..."},
    {"fifo --format csv --label x", "it is not a regular file"},
    {"/dev/zero --format cifar10", "it is not a regular file"},
    {"fifo --format hdf5", "it is not a regular file"},
};

TEST_F(Failures, OfDataFiles) {
  surroundings_.longest_run = 30;
  expect_failures(train + "--dataset ", 1, data_files);
  make_input("digits");
  make_input("fifo");
  fs::remove(path("digits/train-labels-idx1-ubyte"));
  fs::rename(path("fifo"), path("digits/train-labels-idx1-ubyte.gz"));
  expect_failure(train + "--format idx --dataset digits/train-images-idx3-ubyte", 1,
                 "cannot read digits/train-labels-idx1-ubyte.gz: it is not a regular file");
  write("table.csv", "\033[7m,b\n1,2\n");
  expect_failure(train + "--dataset table.csv --format csv --label x", 2,
                 "--label must name the column of table.csv that holds the class; the columns are "
                 "\\x1b[7m, b");
}

TEST_F(Failures, EndAsTheyAreMeant) {
  const hid_t file = H5Fcreate(path("x.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  constexpr std::array<hsize_t, 2> sizes = {2, 1};
  constexpr std::array numbers = {0.0, 0.5};
  for (const auto& [name, rank] : {std::pair("x", 2), std::pair("y", 1)}) {
    const hid_t space = H5Screate_simple(rank, sizes.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
    H5Dclose(set);
    H5Sclose(space);
  }
  H5Fclose(file);
  EXPECT_TRUE(expect_failure(train + "--dataset x.h5 --format hdf5", 1, "is no class number: ")
                  .ends_with(" 0, 1, 2, ..."));
}

TEST_F(Failures, OfNamesThatACheckpointCouldNotKeep) {
  const std::string command = train + "--dataset table.csv --format csv --label b";
  const std::string reason =
      ": the name is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8";
  for (const std::string wrong : {"\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                  "\xf4\x90\x80\x80", "\xe2\x82", "\xe0\x80\x80", "\x80"}) {
    write("table.csv", "a,x" + wrong + ",b\n1,2,u\n2,3,v\n");
    expect_failure(command, 1, "table.csv, line 1, column 2" + reason);
  }
  write("table.csv", "a,x,b\n1,2,u\n2,3,v\xe9\n");
  expect_failure(command, 1, "table.csv, line 3, column b" + reason);
  write("table.csv", "gr\u00f6\u00dfe,b\n1,\u20ac\n2,\U0001f600\n3,\u20ac\n");
  run_well(command + " --batch-size 1 --epochs 1 --save table.h5");
  run_well(evaluate + "table.h5");
}

TEST_F(Failures, NameTheValueOfATableThatIsTooLarge) {
  const auto write_table = [&](const std::string& training, const std::string& test) {
    write("table.csv", "a,b,class\n0,0,0\n1,1,1\n2,2,0\n3,3,1\n4,4,0\n5," + training +
                           ",1\n6,6,0\n7,7,1\n1,2,0\n3," + test + ",1\n");
  };
  const std::string command =
      train + "--dataset table.csv --format csv --label class --batch-size 2 --epochs 1 ";
  write_table("1e300", "2");
  expect_failures(
      command, 1,
      {{"--precision float", "row 6 below the header, column b: the value is too large"},
       {"--precision double", "for a mean and a deviation of this feature in double"}});
  const std::string row_10 =
      "table.csv, row 10 below the header, column b: the value becomes, standardized, 4.42e+299, "
      "and float holds numbers up to 3.4e+38; --precision double holds larger ones";
  write_table("2", "1e300");
  expect_failure(command, 1, row_10);
  write_table("2", "2");
  run_well(command + "--save table.h5");
  write_table("2", "1e300");
  expect_failure(evaluate + "table.h5", 1, row_10);
}

// ------------------------------------------------------------------------------------- checkpoints

const Sayings checkpoints = {
    {"evaluate --load none.h5", "the checkpoint none.h5 cannot be read: there is no such file"},
    {"evaluate --load folder", "the checkpoint folder cannot be read: it is a folder, not a file"},
    {"evaluate --load fifo", "the checkpoint fifo cannot be read: it is not a regular file"},
    {"evaluate --load /dev/zero", "/dev/zero cannot be read: it is not a regular file"},
    {"evaluate --load empty.h5", "the checkpoint empty.h5 cannot be read: it is not an HDF5 file"},
    {"train --load text.h5", "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"train --resume cut.h5", "it is damaged, cut short, or may not be opened"},
    {"evaluate --load nan.h5",
     "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN in its value number 79 (counted "
     "from 0), so the network is of no use"},
    {"train --load nan.h5", "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN ..."},
    {"train --resume nan.h5", "the parameter 'fc2/weight' of the checkpoint nan.h5 is NaN ..."},
    {"evaluate --load digits.h5 --model neuron",
     "--model neuron contradicts the checkpoint digits.h5, which has mlp; leave the option out, or "
     "name another checkpoint"},
    {"train --load digits.h5 --hidden 9", "--hidden 9 contradicts the checkpoint digits.h5, ..."},
    {"evaluate --load digits.h5 --dataset step",
     "the checkpoint digits.h5 is for shape [28, 28, 1] and 10 classes, but the data have [1] and "
     "2 classes"},
    {"train --load digits.h5 --dataset step",
     "the parameters of the checkpoint digits.h5 do not fit step: the shape of a sample is [1] and "
     "was [28, 28, 1], the number of classes is 2 and was 10"},
    {"train --load other.h5",
     "the parameter 'fc1/weight' of the checkpoint other.h5 has shape [784, 8], but this network "
     "needs [784, 256]"},
    {"train --load other.h5 --hidden none", "holds a parameter 'fc2/bias' that this network ..."},
    {"train --load other.h5 --hidden 8,10", "other.h5 holds no parameter 'fc3/weight', which ..."},
    {"train --resume other.h5",
     "the checkpoint other.h5 does not say how it was trained, so its training cannot be resumed; "
     "start a new one from its parameters with --load"},
    {"predict --load digits.h5 --image text.h5",
     "cannot read the image text.h5: it is no PNG image"},
    {"predict --load digits.h5 --image empty.h5", "cannot read empty.h5: the file is empty"},
    {"predict --load neuron.h5 --image text.h5",
     "takes samples of shape [1], which are no pictures"},
    {"predict --load other.h5 --image text.h5",
     "the checkpoint other.h5 does not say what its samples are; train --load other.h5 --save FILE "
     "adds that"},
};

TEST_F(Failures, OfCheckpoints) {
  expect_failures("stage01_serial ", 1, checkpoints);
}

/// The checkpoint decides all that training depends on, even where it says the same.
TEST_F(Failures, OfResumptionsThatWouldChange) {
  for (const std::string option : {"model mlp",
                                   "precision double",
                                   "hidden 9",
                                   "activation sigmoid",
                                   "loss squared-error",
                                   "biases off",
                                   "train-limit 50",
                                   "validation 10",
                                   "label x",
                                   "features 3",
                                   "batch-size 10",
                                   "learning-rate 0.2",
                                   "optimizer adam",
                                   "momentum 0.5",
                                   "schedule cosine",
                                   "warmup 3",
                                   "l2 0.1",
                                   "seed 2",
                                   "shuffle off",
                                   "workers 2",
                                   "average weights",
                                   "gemm blas"}) {
    expect_failure(train + "--resume digits.h5 --" + option, 2,
                   "--" + option.substr(0, option.find(' ')) +
                       " cannot be given with --resume: the checkpoint digits.h5 decides how its "
                       "training continues; leave the option out, or start a new training from "
                       "these parameters with --load");
  }
}

TEST_F(Failures, OfResumptionsWithoutAllThatATrainingIs) {
  make_input("digits.h5");
  const Checkpoint whole = load_checkpoint(path("digits.h5"));
  const std::string resume = train + "--resume part.h5";
  const auto expect_refused = [&](const std::string& name) {
    expect_failure(resume, 1,
                   "the checkpoint part.h5 does not say its " + name +
                       ", so its training cannot be resumed; start a new one from its parameters "
                       "with --load");
  };
  const auto save_without = [&](const std::string& name) {
    Checkpoint part = whole;
    ASSERT_EQ(part.settings.erase(name), 1U);
    save_checkpoint(path("part.h5"), part);
  };
  for (const std::string name : {"l2", "dataset", "workers", "shuffle"}) {
    save_without(name);
    expect_refused(name);
  }
  // The library's own functions write an epoch and a step always; others may not.
  for (const std::string name : {"seed", "epoch", "step"}) {
    save_checkpoint(path("part.h5"), whole);
    const hid_t file = H5Fopen(path("part.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    for (const std::string& attribute : {name, std::string("checksum")}) {
      ASSERT_GE(H5Adelete(file, attribute.c_str()), 0);
    }
    H5Fclose(file);
    expect_refused(name);
  }
  save_without("epochs");
  expect_failure(resume, 2,
                 "--epochs is needed: the checkpoint part.h5 does not say how many epochs its "
                 "training was to have");
  run_well(resume + " --epochs 3");
}

struct WrongAttribute {
  std::string command;
  std::string attribute;
  std::string value;
  std::string said;  ///< after the checkpoint's name
};

const std::string resuming = "train --resume";
const std::string loading = "train --epochs 1 --load";
const std::vector<WrongAttribute> wrong_attributes = {
    {resuming, "batch-size", "200",
     ", which sets 'batch-size', cannot be used here: --batch-size 200 is larger than the training "
     "set of 60 samples"},
    {resuming, "batch-size", "many",
     " is of no use: of its 'batch-size', 'many' is not a whole number of at least 1"},
    {resuming, "learning-rate", "1e-50",
     ", which sets 'learning-rate', 'precision', cannot be used here: --learning-rate 1e-50 is 0"},
    {resuming, "train-limit", "20000", ", which sets 'train-limit', cannot be used here: ..."},
    {resuming, "validation", "60", ", which sets 'validation', cannot be used here: ..."},
    {resuming, "workers", "100", ", which sets 'batch-size', 'workers', cannot be used here: ..."},
    {resuming, "dataset", "letters", ", which sets 'dataset', cannot be used here: ..."},
    {resuming, "format", "png",
     ", which sets 'format', cannot be used here: --format png is not ..."},
    {"evaluate --load", "format", "png", ", which sets 'format', cannot be used here: ..."},
    {resuming, "label", "kind",
     ", which sets 'label', cannot be used here: --label names a column ..."},
    {resuming, "epochs", std::string(300, '1'), " is of no use: of its 'epochs', '111..."},
    {loading, "model", "neuron",
     ", which sets 'model', cannot be used here: --model neuron tells ..."},
    {loading, "biases", "off", " holds a parameter 'fc1/bias' that this network does not have"},
    {"evaluate --load", "activation", "tanh",
     " is of no use: of its 'activation', there is no activation 'tanh'"},
    {"evaluate --load", "class-count", "ten",
     " is of no use: its 'sample-shape' of '28,28,1' or its 'class-count' of 'ten' is not made of "
     "whole numbers of at least 1"},
};

/// What is wrong with a checkpoint is not blamed on options that nobody has written.
TEST_F(Failures, OfACheckpointsAttributes) {
  make_input("digits.h5");
  Checkpoint whole = load_checkpoint(path("digits.h5"));
  whole.settings["average"] = "gradients";  // for those of several workers
  whole.settings["average-every"] = "1";
  for (const auto& [command, attribute, value, said] : wrong_attributes) {
    Checkpoint bad = whole;
    (attribute == "model" ? bad.model : bad.settings[attribute]) = value;
    save_checkpoint(path("bad.h5"), bad);
    expect_failure("stage01_serial " + command + " bad.h5", 1, "the checkpoint bad.h5" + said);
  }
  // The user is blamed for what the user wrote or left out, whatever files are called.
  write("x--hidden.csv", "a,class\n1,0\n2,1\n");
  expect_failures(train + "--load digits.h5 --", 2,
                  {{"batch-size 200 --train-limit 60", "--batch-size 200 is larger than ..."},
                   {"dataset x--hidden.csv --format csv",
                    "--label must name the column of x--hidden.csv that holds the class; ..."}});
}

TEST_F(Failures, NameTheCheckpointWhoseDataAreGone) {
  write("table.csv", "a,class\n1,0\n2,1\n3,0\n4,1\n5,0\n");
  run_well(
      train +
      "--dataset table.csv --format csv --label class --batch-size 2 --epochs 1 --save table.h5");
  fs::remove(path("table.csv"));
  for (const std::string& command : {train + "--epochs 2 --resume ", evaluate}) {
    expect_failure(command + "table.h5", 1,
                   "cannot read table.csv: there is no such file; the checkpoint table.h5 names "
                   "this data set, --dataset another");
  }
}

/// As earlier versions wrote them.
TEST_F(Failures, OfCheckpointsThatDoNotKnowTheirData) {
  make_input("digits.h5");
  Checkpoint old = load_checkpoint(path("digits.h5"));
  std::erase_if(old.settings,
                [](const auto& setting) { return setting.first.starts_with("data-"); });
  old.settings["train-limit"] = "80";
  save_checkpoint(path("old.h5"), old);
  expect_failure(train + "--resume old.h5", 1,
                 "the checkpoint old.h5 stopped after 6 steps in 2 epochs, which does not fit 80 "
                 "training samples; it was trained on other data");
}

// ------------------------------------------------------------------------------ what is no number

TEST_F(Failures, OfALossThatIsNoNumberSaveNothing) {
  make_input("digits.h5");
  const std::string replacing = short_training + " --epochs 3 --save digits.h5 --save-every 1 ";
  expect_failures(replacing, 1,
                  {{"--learning-rate 1e30",
                    "the loss became NaN in epoch 1, step 2, and training stopped; a learning rate "
                    "smaller than 1e+30 may help, unless an operation computes wrong numbers"},
                   {"--l2 1e30",
                    "the learning rate 0.15 times the l2 of 1e+30 is 1.5e+29, and above 2 every "
                    "step makes the weights larger"}});
  // The last step's parameters have no loss to show it.
  expect_failure(
      train +
          "--train-limit 20 --batch-size 20 --epochs 1 --loss squared-error --activation sigmoid "
          "--l2 1e30 --learning-rate 1e30 --save digits.h5",
      1, "the parameter 'fc1/weight' became NaN or infinite in epoch 1, step 1, and training ...");
}

/// The learning rate is blamed for nothing that it has not done.
TEST_F(Failures, OfALossBlameWhatIsTooLarge) {
  expect_failures(
      train + "--dataset gaussian --samples 50 --batch-size 5 --hidden 4 --spacing ", 1,
      {{"1e30",
        "inputs up to 1e+30 should be scaled, or a learning rate smaller than 0.15 may help"},
       {"1e38 --deviation 1e37 --loss squared-error",
        "that was before the first update, so the learning rate is not the cause, but inputs up "
        "to "},
       {"1e300",
        "gaussian, training sample 1, value 0 (counted from 0): the value is 1e+300, and float "
        "holds numbers up to 3.4e+38; --precision double holds larger ones"}});
}

}  // namespace
}  // namespace stagewise
