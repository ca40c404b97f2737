// The table of --csv, epoch by epoch.

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/training_log.hpp"
#include "io/file.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

const std::string columns =
    "epoch,step,loss,accuracy,learning_rate,images_per_second,validation_loss,"
    "validation_accuracy\n";

class Log : public testing::Test {
 protected:
  std::string text() const {
    const Bytes bytes = read_file(path_);
    return {bytes.begin(), bytes.end()};
  }

  ino_t identity() const {
    struct stat status {};
    EXPECT_EQ(::stat(path_.c_str(), &status), 0);
    return status.st_ino;
  }

  static void add(CsvLog& log, std::int64_t epoch) {
    const std::array<StepReport, 2> rows = {StepReport{.epoch = epoch, .step = 2 * epoch - 1, .loss = 0.5},
                                            StepReport{.epoch = epoch, .step = 2 * epoch, .loss = 0.25}};
    log.add({.epoch = epoch, .validation_loss = 0.75, .validation_accuracy = 1}, rows);
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "log.csv";
  std::string first_ = columns + "1,1,0.5,0,0,0,,\n1,2,0.25,0,0,0,0.75,1\n";
  std::string second_ = "2,3,0.5,0,0,0,,\n2,4,0.25,0,0,0,0.75,1\n";
};

TEST_F(Log, GrowsByAnEpoch) {
  CsvLog log(path_, nullptr, "");
  EXPECT_FALSE(fs::exists(path_));
  add(log, 1);
  EXPECT_EQ(text(), first_);
  const ino_t before = identity();
  add(log, 2);
  EXPECT_EQ(text(), first_ + second_);
  EXPECT_EQ(identity(), before) << "all of it was written again";
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(Log, OfAKilledTrainingIsCutOffAtMost) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // should the test itself be killed, do not go on for ever
    CsvLog log(path_, nullptr, "");
    for (std::int64_t epoch = 1;; ++epoch) add(log, epoch);
  }
  while (!fs::exists(path_) || fs::file_size(path_) < 100'000) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "the child ended by itself";
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const std::string found = text();
  CsvLog log(path_ += "2", nullptr, "");
  for (std::int64_t epoch = 1; !fs::exists(path_) || fs::file_size(path_) < found.size(); ++epoch) {
    add(log, epoch);
  }
  EXPECT_TRUE(text().starts_with(found)) << found.substr(found.size() - 100);
}

TEST_F(Log, ThatIsTakenAwayBeginsAgain) {
  CsvLog log(path_, nullptr, "");
  add(log, 1);
  fs::remove(path_);
  add(log, 2);
  EXPECT_EQ(text(), columns + second_);
}

TEST_F(Log, ThatCannotBeReadIsNotReplaced) {
  const Checkpoint checkpoint = {.epoch = 1, .step = 2};
  const auto refusal_of = [&](const fs::path& path) { return sentence_of([&] { CsvLog(path, &checkpoint, "it"); }); };
  EXPECT_EQ(refusal_of(path_), "");
  EXPECT_EQ(refusal_of(folder_.path()),
            "the table " + folder_.path().string() +
                " cannot be continued: it is a folder, not a file; choose another name for --csv");
  write_file(path_, std::as_bytes(std::span(first_)), "table");
  ASSERT_EQ(chmod(path_.c_str(), 0200), 0);
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  EXPECT_EQ(refusal_of(path_),
            "the table " + path_.string() + " cannot be continued: Permission denied; choose another name for --csv");
}

}  // namespace
}  // namespace stagewise
