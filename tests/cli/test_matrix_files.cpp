// matrix_files: networks to and from report 002's program.

#include <string>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class Matrices : public CommandLine {};

TEST_F(Matrices, RoundTripIsBitIdentical) {
  EXPECT_EQ(run_well("matrix_files --export new/net digits.h5"),
            "b1.data    1 x 8  fc1/bias\n"
            "w1.data  8 x 784  fc1/weight\n"
            "b2.data   1 x 10  fc2/bias\n"
            "w2.data   10 x 8  fc2/weight\n"
            "written to new/net\n");
  run_well(short_training + " --epochs 0 --seed 9 --save other_seed.h5");
  expect_contains(run_well("matrix_files --import new/net other_seed.h5"),
                  "\nread from new/net into other_seed.h5\n");
  expect_same("digits.h5", "other_seed.h5");
  EXPECT_EQ(load_checkpoint(path("other_seed.h5")).seed, 9U) << "settings stay";
  expect_contains(run_well("matrix_files --import new/net new.h5"),
                  "\nread from new/net into the new new.h5: mlp, relu, cross-entropy, float\n");
  const std::string evaluate = "stage01_serial evaluate --test-limit 50 --load ";
  EXPECT_EQ(lines_of(run_well(evaluate + "new.h5")).back(),
            lines_of(run_well(evaluate + "digits.h5")).back());
}

TEST_F(Matrices, RoundDoublesAndSaySo) {
  expect_contains(
      run_well("matrix_files --export net double.h5"),
      "\nwritten to net, rounded to float: the checkpoint's doubles have 9 digits more\n");
  fs::copy_file(path("double.h5"), path("copy.h5"));
  run_well("matrix_files --import net copy.h5");
  expect_same("double.h5", "copy.h5", "1e-7");
  EXPECT_EQ(run("compare_checkpoints double.h5 copy.h5").exit_code, 1);
}

const Sayings refusals = {
    {"digits.h5", "say what to do: either --export or --import"},
    {"--export folder --import folder digits.h5", "say what to do: either --export or --import"},
    {"--export folder digits.h5 other.h5", "argument 'other.h5' is unknown; matrix_files ..."},
    {"--export folder", "CHECKPOINT is required"},
    {"digits.h5 --export=", "--export needs a value"},
    {"--export folder none.h5", "the checkpoint none.h5 cannot be read: there is no such file"},
    {"--export folder nan.h5", "the parameter 'fc2/weight' has a value of nan, which no ..."},
    {"--export text.h5 digits.h5", "the folder text.h5 cannot be made: Not a directory"},
    {"--export locked digits.h5", "the matrix locked/b1.data cannot be written: Permission denied"},
    {"--export net neuron.h5", "the folder net already holds b2.data, which would pass for a ..."},
    {"--import none digits.h5", "the folder none cannot be read: there is no such folder"},
    {"--import folder digits.h5",
     "the matrix folder/b1.data cannot be read: there is no such file"},
    {"--import folder new.h5", "the matrix folder/w1.data cannot be read: there is no such file"},
    {"--import folder folder", "the checkpoint folder cannot be read: it is a folder, not a file"},
    {"--import net neuron.h5", "but the checkpoint neuron.h5 has no parameter 'fc2/bias'"},
    {"--import net locked.h5", "the checkpoint locked.h5 cannot be written: Permission denied"},
    {"--import net none/new.h5",
     "the checkpoint none/new.h5 cannot be written: there is no folder"},
    {"--import cut digits.h5", "w1.data is no matrix file: it has 0 bytes, and the header ..."},
    {"--export links digits.h5", "it is the same file as the checkpoint digits.h5"},
    {"--export loops digits.h5", "the matrix loops/w2.data cannot be written: it is the same ..."},
};

TEST_F(Matrices, ThatAreWrongAreRefused) {
  surroundings_.heeds_permissions = true;
  run_well("matrix_files --export net digits.h5");
  fs::copy(path("net"), path("cut"));
  write("cut/w1.data", "");
  fs::create_directory(path("links"));
  fs::create_symlink("../digits.h5", path("links/w1.data"));
  fs::create_directory(path("loops"));
  fs::create_symlink("w2.data", path("loops/w1.data"));
  expect_failures("matrix_files ", 2, refusals);
}

}  // namespace
}  // namespace stagewise
