// matrix_files: networks to and from report 002's program.

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"
#include "reports/002/matrix_file.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

class Matrices : public CommandLine {
 protected:
  void expect_equal(const std::string& a, const std::string& b) {
    run_well("compare_checkpoints " + a + " " + b + " --tolerance 0");
  }

  void store(const std::string& name, const Matrix& matrix) { write_matrix(path(name), matrix); }
};

TEST_F(Matrices, RoundTripIsBitIdentical) {
  EXPECT_EQ(run_well("matrix_files --export new/net digits.h5"),
            "b1.data    1 x 8  fc1/bias\n"
            "w1.data  8 x 784  fc1/weight\n"
            "b2.data   1 x 10  fc2/bias\n"
            "w2.data   10 x 8  fc2/weight\n"
            "written to new/net\n");
  EXPECT_EQ(fs::file_size(path("new/net/w1.data")), 16U + 4 * 8 * 784);

  run_well(short_training + " --epochs 0 --seed 9 --save other_seed.h5");
  const std::string output = run_well("matrix_files --import new/net other_seed.h5");
  EXPECT_TRUE(output.ends_with("\nread from new/net into other_seed.h5\n")) << output;
  expect_equal("digits.h5", "other_seed.h5");
  EXPECT_EQ(load_checkpoint(path("other_seed.h5")).seed, 9U) << "settings stay";

  run_well("matrix_files --export again other_seed.h5");
  for (const std::string name : {"w1.data", "b1.data", "w2.data", "b2.data"}) {
    EXPECT_EQ(read_file(path("new/net/" + name)), read_file(path("again/" + name))) << name;
  }
}

TEST_F(Matrices, MakeACheckpointThatEvaluateTakes) {
  run_well("matrix_files --export net digits.h5");
  const std::string output = run_well("matrix_files --import net new.h5");
  EXPECT_TRUE(
      output.ends_with("\nread from net into the new new.h5: mlp, relu, cross-entropy, float\n"))
      << output;
  expect_equal("digits.h5", "new.h5");
  const std::string evaluate = "stage01_serial evaluate --test-limit 50 --load ";
  EXPECT_EQ(lines_of(run_well(evaluate + "new.h5")).back(),
            lines_of(run_well(evaluate + "digits.h5")).back());
  run_well(short_training + " --epochs 1 --load new.h5");
}

// A net that tells x > 0.5, made by hand: any confusion of rows and columns costs half the
// accuracy.
TEST_F(Matrices, OfAnotherProgramMeanTheSame) {
  fs::create_directory(path("net"));
  store("net/w1.data", {.height = 3, .width = 1, .values = {1, -1, 0}});
  store("net/b1.data", {.height = 1, .width = 3, .values = {-0.5, 0.5, 0}});
  store("net/w2.data", {.height = 2, .width = 3, .values = {0, 1, 0, 1, 0, 0}});
  store("net/b2.data", {.height = 2, .width = 1, .values = {0, 0}});
  run_well("matrix_files --import net step.h5");
  const std::string output = run_well("stage01_serial evaluate --dataset step --load step.h5");
  EXPECT_NE(output.find("accuracy 1.0000"), std::string::npos) << output;
}

TEST_F(Matrices, OfACnnNeedACheckpointWithItsShapes) {
  const std::string cnn =
      "stage01_serial train --model cnn --train-limit 20 --test-limit 1 --batch-size 20 --epochs "
      "0 ";
  run_well(cnn + "--save cnn.h5");
  const std::string output = run_well("matrix_files --export net cnn.h5");
  EXPECT_NE(output.find("\nconv2_filter.data    64 x 800  conv2/filter\n"), std::string::npos)
      << output;
  run_well(cnn + "--seed 2 --save cnn2.h5");
  run_well("matrix_files --import net cnn2.h5");
  expect_equal("cnn.h5", "cnn2.h5");
  expect_failure("matrix_files --import net new.h5", 2,
                 "the folder net holds conv1_bias.data, which belongs to none of the layers "
                 "w1.data, w2.data, ...; for any other network than an mlp, import into a "
                 "checkpoint that has its shapes");
  EXPECT_FALSE(fs::exists(path("new.h5")));
}

TEST_F(Matrices, RoundDoublesAndSaySo) {
  const std::string output = run_well("matrix_files --export net double.h5");
  EXPECT_TRUE(output.ends_with(
      "\nwritten to net, rounded to float: the checkpoint's doubles have 9 digits more\n"))
      << output;
  fs::copy_file(path("double.h5"), path("copy.h5"));
  run_well("matrix_files --import net copy.h5");
  EXPECT_EQ(load_checkpoint(path("copy.h5")).precision, "double");
  run_well("compare_checkpoints double.h5 copy.h5 --tolerance 1e-7");
  EXPECT_EQ(run("compare_checkpoints double.h5 copy.h5").exit_code, 1);
}

TEST_F(Matrices, OfWorkersAreGone) {
  run_well(short_training + " --epochs 1 --workers 2 --average weights --save workers.h5");
  ASSERT_FALSE(load_checkpoint(path("workers.h5")).workers.empty());
  run_well("matrix_files --export net workers.h5");
  run_well("matrix_files --import net workers.h5");
  EXPECT_TRUE(load_checkpoint(path("workers.h5")).workers.empty());
}

TEST_F(Matrices, ThatAreDamagedLeaveTheCheckpointAsItWas) {
  run_well("matrix_files --export net digits.h5");
  const Bytes checkpoint = read_file(path("digits.h5"));
  const Bytes good = read_file(path("net/w2.data"));
  const auto expect_refused = [&](const Bytes& bytes, const std::string& sentence) {
    write_file(path("net/w2.data"), bytes);
    for (const std::string target : {"digits.h5", "new.h5"}) {
      expect_failure("matrix_files --import net " + target, 2, sentence);
    }
    EXPECT_EQ(read_file(path("digits.h5")), checkpoint);
    EXPECT_FALSE(fs::exists(path("new.h5")));
  };
  Bytes bytes = good;
  bytes[0] = 'X';
  expect_refused(bytes,
                 "net/w2.data is no matrix file: it begins with 0x5843533337384800 where "
                 "0x9343533337384800 was expected");
  bytes = good;
  bytes.pop_back();
  expect_refused(bytes,
                 "net/w2.data is cut short: its header announces a matrix of 10 x 8 floats, but "
                 "only 319 bytes follow it");
  bytes = good;
  bytes.push_back(0);
  expect_refused(bytes,
                 "net/w2.data is too long: its header announces a matrix of 10 x 8 floats, but 321 "
                 "bytes follow it");
  bytes = good;
  bytes[11] = bytes[15] = 0xff;
  expect_refused(bytes,
                 "net/w2.data is cut short: its header announces a matrix of 4278190090 x "
                 "4278190088 floats, but only 320 bytes follow it");
  bytes = good;
  bytes[18] = 0xc0;
  bytes[19] = 0x7f;
  expect_refused(bytes, "net/w2.data has a NaN at [0, 0], where a finite number was expected");
  expect_refused({},
                 "net/w2.data is no matrix file: it has 0 bytes, and the header alone takes 16");
}

TEST_F(Matrices, ThatDoNotFitAreRefused) {
  run_well("matrix_files --export net digits.h5");
  expect_failure("matrix_files --import net neuron.h5", 2,
                 "the folder net holds b2.data, but the checkpoint neuron.h5 has no parameter "
                 "'fc2/bias'");
  expect_failure("matrix_files --export net neuron.h5", 2,
                 "the folder net already holds b2.data, which would pass for a parameter of this "
                 "network; name another folder");
  run_well(
      "stage01_serial train --train-limit 60 --test-limit 20 --hidden 9 --batch-size 20 "
      "--epochs 0 --save nine.h5");
  expect_failure("matrix_files --import net nine.h5", 2,
                 "net/b1.data has a matrix of 1 x 8, but the parameter 'fc1/bias' of shape [9] "
                 "takes one of 1 x 9");
}

struct Refusal {
  const char* name;
  const char* command;
  const char* sentence;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest wants this name
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.command;
}

class WrongMatrices : public CommandLine, public testing::WithParamInterface<Refusal> {};

TEST_P(WrongMatrices, GetASentence) {
  surroundings_.heeds_permissions = true;
  expect_failure(GetParam().command, 2, GetParam().sentence);
}

const std::vector<Refusal> refusals = {
    {"nothing", "matrix_files digits.h5", "say what to do: either --export or --import"},
    {"both", "matrix_files --export folder --import folder digits.h5",
     "say what to do: either --export or --import"},
    {"two_checkpoints", "matrix_files --export folder digits.h5 other.h5",
     "argument 'other.h5' is unknown; matrix_files --help lists what there is"},
    {"no_checkpoint", "matrix_files --export folder", "CHECKPOINT is required"},
    {"no_folder", "matrix_files digits.h5 --export", "--export needs a value"},
    {"no_name", "matrix_files digits.h5 --export=", "--export needs a value"},
    {"two_folders", "matrix_files digits.h5 --export x --export y",
     "--export is given more than once"},
    {"tolerance", "matrix_files --export x digits.h5 --tolerance 1",
     "option '--tolerance' is unknown; matrix_files --help lists what there is"},
    {"export_of_compare_checkpoints", "compare_checkpoints --export x digits.h5",
     "option '--export' is unknown; compare_checkpoints --help lists what there is"},
    {"import_of_compare_checkpoints", "compare_checkpoints --import x digits.h5",
     "option '--import' is unknown; compare_checkpoints --help lists what there is"},
    {"export_of_nothing", "matrix_files --export folder none.h5",
     "the checkpoint none.h5 cannot be read: there is no such file"},
    {"export_of_text", "matrix_files --export folder text.h5",
     "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"export_of_nan", "matrix_files --export folder nan.h5",
     "the parameter 'fc2/weight' has a value of nan, which no finite float is"},
    {"export_to_a_file", "matrix_files --export text.h5 digits.h5",
     "the folder text.h5 cannot be made: Not a directory"},
    {"export_into_a_locked_folder", "matrix_files --export locked digits.h5",
     "the matrix locked/b1.data cannot be written: Permission denied"},
    {"export_below_a_locked_folder", "matrix_files --export locked/net digits.h5",
     "the folder locked/net cannot be made: Permission denied"},
    {"import_from_nowhere", "matrix_files --import none digits.h5",
     "the folder none cannot be read: there is no such folder"},
    {"import_from_a_file", "matrix_files --import text.h5 digits.h5",
     "the folder text.h5 cannot be read: it is not a folder"},
    {"import_from_an_empty_folder", "matrix_files --import folder digits.h5",
     "the matrix folder/b1.data cannot be read: there is no such file"},
    {"import_of_an_empty_folder", "matrix_files --import folder new.h5",
     "the matrix folder/w1.data cannot be read: there is no such file"},
    {"import_into_text", "matrix_files --import folder text.h5",
     "the checkpoint text.h5 cannot be read: it is not an HDF5 file"},
    {"import_into_a_folder", "matrix_files --import folder folder",
     "the checkpoint folder cannot be read: it is a folder, not a file"},
};

INSTANTIATE_TEST_SUITE_P(Commands, WrongMatrices, testing::ValuesIn(refusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Matrices, AreNotImportedWhereNothingCanBeWritten) {
  surroundings_.heeds_permissions = true;
  run_well("matrix_files --export net digits.h5");
  expect_failure("matrix_files --import net locked.h5", 2,
                 "the checkpoint locked.h5 cannot be written: Permission denied");
  expect_failure("matrix_files --import net locked/new.h5", 2,
                 "the checkpoint locked/new.h5 cannot be written: Permission denied");
  expect_failure("matrix_files --import net nowhere/new.h5", 2,
                 "the checkpoint nowhere/new.h5 cannot be written: there is no folder ...");
}

}  // namespace
}  // namespace stagewise
