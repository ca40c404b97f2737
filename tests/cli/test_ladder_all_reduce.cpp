// The ladder whose rungs take several processes.

#include <nlohmann/json.hpp>
#include <string>

#include "cli/stage05.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

class LadderOfSums : public Stage05 {
 protected:
  void SetUp() override {
    Stage05::SetUp();
    said_by_ = "ladder: ";
  }

  std::string command_ = ranks(3, "ladder ") + "all-reduce ";
};

TEST_F(LadderOfSums, AllRungsAreVerified) {
  for (const std::string options :
       {"--repetitions 0", "--bytes 4", "--bytes 40008 --precision double --repetitions 0"}) {
    const std::string output = run_well(command_ + options);
    EXPECT_EQ(count(output, "\nranks  3 processes on 1 host, "), 1) << output;
    EXPECT_EQ(output.find("DIFFERS"), std::string::npos) << output;
    for (const std::string rung : {"host", "ring", "one-shot", "two-shot"}) {
      EXPECT_NE(output.find("\n" + rung + " "), std::string::npos) << rung << output;
    }
    for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(LadderOfSums, WritesAReport) {
  const json report = report_of(command_ + "--bytes 400");
  EXPECT_EQ(report.at("ladder"), "all-reduce");
  EXPECT_EQ(report.at("ranks"), 3);
  ASSERT_EQ(report.at("tables").size(), 1U);
  const json& table = report.at("tables").front();
  EXPECT_EQ(table.at("heading"), "400 B");
  int rows = 0;
  for (const json& row : table.at("rows")) {
    if (row.contains("skipped")) continue;  // for want of GPUs
    EXPECT_TRUE(row.at("verified").get<bool>()) << row;
    EXPECT_EQ(row.at("bytes"), 400) << row;
    EXPECT_GT(row.at("seconds"), 0) << row;
    EXPECT_TRUE(std::filesystem::exists(fs::path(STAGEWISE_REPOSITORY) / row.at("file"))) << row;
    ++rows;
  }
  EXPECT_EQ(rows, is_emulated() ? 4 : 2);
}

TEST_F(LadderOfSums, RefusesWhatItCannotAddUp) {
  const std::string alone =
      "all-reduce is for several processes, and there is but one: start them with mpirun -n";
  expect_failure("ladder all-reduce", 2, alone);
  expect_job_fails(command_ + "--bytes 1023", 2,
                   "--bytes 1023 is no multiple of the 4 bytes of a "
                   "float");
  expect_job_fails(command_ + "--rung tree", 2,
                   "--rung: 'tree' is not one of all, host, ring, one-shot, two-shot");
}

}  // namespace
}  // namespace stagewise
