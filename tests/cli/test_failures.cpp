// What happens to a command that cannot be carried out: an exit code, one sentence, and all files
// as they were.

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

TEST_F(Failures, OfWords) { run_table("words"); }

TEST_F(Failures, OfValues) { run_table("values"); }

TEST_F(Failures, OfOtherCommands) { run_table("other_commands"); }

/// The table has an option, and behind it what is no number or none that it takes.
TEST_F(Failures, OfNumbers) {
  for (const auto& [row, reason] : table("numbers")) {
    const std::size_t numbers = row.find(' ', row.rfind(" --") + 1);
    const std::string command = row.substr(0, numbers);
    for (const std::string& number : words_of(row.substr(numbers))) {
      const std::string quoted = number.empty() ? "''" : number;
      expect_failure(command + " " + quoted, 2, words_of(command).back() + ": '" + number + "' " + reason);
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

TEST_F(Failures, OfDataFiles) {
  surroundings_.longest_run = 30;
  run_table("data_files");
  write("table.csv", "\033[7m,b...\n1,2\n");
  EXPECT_TRUE(expect_failure(train + "--dataset table.csv --format csv --label x", 2,
                             "--label x is not a column of table.csv, whose columns are ")
                  .ends_with(" \\x1b[7m, b..."));
}

TEST_F(Failures, OfNamesThatACheckpointCouldNotKeep) {
  const std::string command = train + "--dataset table.csv --format csv --label b";
  const std::string reason = ": the name is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8";
  for (const std::string wrong : {"\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xf4\x90\x80\x80",
                                  "\xe2\x82", "\xe0\x80\x80", "\x80"}) {
    write("table.csv", "a,x" + wrong + ",b\n1,2,u\n2,3,v\n");
    expect_failure(command, 1, "table.csv, line 1, column 2" + reason);
  }
  write("table.csv", "a,x,b\n1,2,u\n2,3,v\xe9\n");
  expect_failure(command, 1, "table.csv, line 3, column b" + reason);
  write("table.csv", "gr\u00f6\u00dfe,b\n1,\u20ac\n2,\U0001f600\n3,\u20ac\n");
  run_well(command + " --batch-size 1 --epochs 1 --save table.h5");
  run_well(evaluate + "table.h5");
}

TEST_F(Failures, DoNotIncludeDecimalCommasWhichAreNoted) {
  write("table.csv", "a;class\n1,5;x\n2,5;y\n");
  expect_contains(run_well(train + "--dataset table.csv --format csv --label class --batch-size 1 --epochs 0"),
                  "note   numbers have decimal commas: 1,5 is read as 1.5\n");
}

TEST_F(Failures, NameTheValueOfATableThatIsTooLarge) {
  const auto write_table = [&](const std::string& training, const std::string& test) {
    write("table.csv", "a,b,class\n0,0,0\n1,1,1\n2,2,0\n3,3,1\n4,4,0\n5," + training + ",1\n6,6,0\n7,7,1\n1,2,0\n3," +
                           test + ",1\n");
  };
  const std::string command = train + "--dataset table.csv --format csv --label class --batch-size 2 --epochs 1 ";
  write_table("1e300", "2");
  expect_failures(command, 1,
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

TEST_F(Failures, OfCheckpoints) { run_table("checkpoints"); }

/// The checkpoint decides all that training depends on, even where it says the same.
TEST_F(Failures, OfResumptionsThatWouldChange) {
  for (const std::string& option :
       words_of("--model=mlp --precision=double --hidden=9 --activation=sigmoid --loss=squared-error "
                "--biases=off --train-limit=50 --validation=10 --label=x --features=3 --batch-size=10 "
                "--learning-rate=0.2 --optimizer=adam --momentum=0.5 --schedule=cosine --warmup=3 "
                "--l2=0.1 --seed=2 --shuffle=off --workers=2 --average=weights --gemm=blas")) {
    expect_failure(train + "--resume digits.h5 " + option, 2,
                   option.substr(0, option.find('=')) +
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

/// What is wrong with a checkpoint is not blamed on options that nobody has written.
TEST_F(Failures, OfACheckpointsAttributes) {
  make_input("digits.h5");
  Checkpoint whole = load_checkpoint(path("digits.h5"));
  whole.settings["average"] = "gradients";  // for those of several workers
  whole.settings["average-every"] = "1";
  for (const auto& [command, said] : table("attributes")) {
    const std::size_t equals = command.find('=');
    const std::string attribute = between(command, " with ", "=");
    Checkpoint bad = whole;
    (attribute == "model" ? bad.model : bad.settings[attribute]) = command.substr(equals + 1);
    save_checkpoint(path("bad.h5"), bad);
    expect_failure(command.substr(0, command.find(" with ")), 1, said);
  }
  // The user is blamed for what the user wrote or left out, whatever files are called.
  write("x--hidden.csv", "a,class\n1,0\n2,1\n");
  expect_failures(train + "--load digits.h5 --", 2,
                  {{"batch-size 200 --train-limit 60", "--batch-size 200 is larger than ..."},
                   {"dataset x--hidden.csv --format csv",
                    "--label must name the column of x--hidden.csv that holds the class; ..."}});
}

/// As earlier versions wrote them.
TEST_F(Failures, OfCheckpointsThatDoNotKnowTheirData) {
  make_input("digits.h5");
  Checkpoint old = load_checkpoint(path("digits.h5"));
  std::erase_if(old.settings, [](const auto& setting) { return setting.first.starts_with("data-"); });
  old.settings["train-limit"] = "80";
  save_checkpoint(path("old.h5"), old);
  expect_failure(train + "--resume old.h5", 1,
                 "the checkpoint old.h5 stopped after 6 steps in 2 epochs, which does not fit 80 "
                 "training samples; it was trained on other data");
}

// ------------------------------------------------------------------------------ what is no number

/// Nothing is saved, also where only parameters show it; and the learning rate is blamed for
/// nothing that it has not done.
TEST_F(Failures, OfALossThatIsNoNumber) { run_table("losses"); }

}  // namespace
}  // namespace stagewise
