// compare_checkpoints and make_dataset.

#include <limits>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class Compare : public CommandLine {
 protected:
  /// Saves a copy of double.h5 with one value of fc1/weight changed.
  void save_changed(const std::string& name, Index row, Index column, double factor) {
    make_input("double.h5");
    Checkpoint checkpoint = load_checkpoint(path("double.h5"));
    ParameterValues& weight = checkpoint.parameters.at(1);
    ASSERT_EQ(weight.name, "fc1/weight");
    weight.values.at(static_cast<std::size_t>(row * weight.shape[1] + column)) *= factor;
    save_checkpoint(path(name), checkpoint);
  }

  std::string compare(const std::string& arguments, int exit_code) {
    const Outcome outcome = run("compare_checkpoints " + arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err, "");
    expect_narrow(outcome.out);
    return outcome.out;
  }
};

TEST_F(Compare, NamesThePlaceOfADifference) {
  const std::string same = compare("double.h5 double.h5 --tolerance 0", 0);
  EXPECT_EQ(lines_of(same).size(), 6U) << same;
  expect_contains(same, "\nwithin 0: double.h5 and double.h5\n");
  save_changed("changed.h5", 300, 5, 1.5);
  const std::string output = compare("double.h5 changed.h5", 1);
  expect_contains(output, "[300, 5]: ");
  expect_contains(output, ", off by ");
  expect_contains(output, "\nbeyond 1e-10: 1 parameter of double.h5 and changed.h5\n");
}

TEST_F(Compare, NeverPassesNotANumber) {
  save_changed("nan.h5", 2, 3, std::numeric_limits<double>::quiet_NaN());
  for (const std::string pair : {"double.h5 nan.h5", "nan.h5 double.h5", "nan.h5 nan.h5"}) {
    const std::string output = compare(pair + " --tolerance 1e300", 1);
    expect_contains(output, "[2, 3]: ");
    expect_contains(output, " BEYOND\n");
  }
}

TEST_F(Compare, NeedsTheSameParameters) {
  make_input("double.h5");
  Checkpoint checkpoint = load_checkpoint(path("double.h5"));
  checkpoint.parameters.pop_back();
  save_checkpoint(path("fewer.h5"), checkpoint);
  for (const std::string pair : {"double.h5 fewer.h5", "fewer.h5 double.h5"}) {
    expect_failure("compare_checkpoints " + pair, 1, "only double.h5 has a parameter 'fc2/weight'");
  }
}

/// The same twice, and counts as people do. Also what compare_checkpoints lets pass.
TEST_F(CommandLine, MakeDatasetWritesWhatIsAskedFor) { run_table("checkpoint_tools"); }

}  // namespace
}  // namespace stagewise
