#include <csignal>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// While in scope, a file cannot grow beyond `bytes`: what a full disk does to a writer.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class File : public testing::Test {
 protected:
  static void write(const fs::path& path, std::string_view text) {
    write_file(path, std::as_bytes(std::span(text)), "report");
  }

  static std::string text_of(const fs::path& path) {
    const Bytes bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
  }

  static std::string refusal(const fs::path& path) {
    return sentence_of([&] { write(path, "new"); });
  }

  static std::string early_refusal(const fs::path& path) {
    return sentence_of([&] { check_writable(path, "report"); });
  }

  /// What both functions say where the target cannot be written to.
  static void expect_refused(const fs::path& path, const std::string& reason) {
    const std::string sentence = "the report " + path.string() + " cannot be written: " + reason;
    EXPECT_EQ(early_refusal(path), sentence);
    EXPECT_EQ(refusal(path), sentence);
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "out.json";
};

TEST_F(File, IsWrittenAndReplacedAndNothingElseIsLeft) {
  write(path_, "first");
  EXPECT_EQ(text_of(path_), "first");
  write(path_, "2nd");
  EXPECT_EQ(text_of(path_), "2nd");
  write(path_, "");
  EXPECT_EQ(text_of(path_), "");
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(File, AnyNameWillDo) {
  for (const char* const name : {"with space", "\xff\xfe", "-o", "ä.json", "a'b\"c"}) {
    write(folder_ / name, name);
    EXPECT_EQ(text_of(folder_ / name), name);
  }
}

TEST_F(File, CheckLeavesNothingBehind) {
  EXPECT_EQ(early_refusal(path_), "");
  EXPECT_EQ(folder_.entries(), 0);
  write(path_, "old");
  EXPECT_EQ(early_refusal(path_), "");
  EXPECT_EQ(folder_.entries(), 1);
  EXPECT_EQ(text_of(path_), "old");
}

TEST_F(File, NameWithoutFolderMeansTheCurrentOne) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const std::string early = early_refusal("out.json");
  const std::string late = refusal("out.json");
  fs::current_path(before);
  EXPECT_EQ(early, "");
  EXPECT_EQ(late, "");
  EXPECT_EQ(text_of(path_), "new");
}

TEST_F(File, EmptyNameIsRefused) {
  EXPECT_EQ(early_refusal(""), "the report needs a file name, but it is empty");
  EXPECT_NE(refusal(""), "");
}

TEST_F(File, FolderIsRefused) {
  expect_refused(folder_.path(), "it is a folder");
}

TEST_F(File, DeviceIsRefusedAndNotReplaced) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_refused(fifo, "it is not a regular file");
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(early_refusal("/dev/full"),
            "the report /dev/full cannot be written: it is not a regular file");
}

TEST_F(File, MissingFolderIsRefused) {
  const fs::path path = folder_ / "missing" / "out.json";
  EXPECT_EQ(early_refusal(path), "the report " + path.string() +
                                     " cannot be written: there is no folder " +
                                     (folder_ / "missing").string());
  EXPECT_EQ(refusal(path),
            "the report " + path.string() + " cannot be written: No such file or directory");
}

TEST_F(File, FileWhereAFolderShouldBeIsRefused) {
  write(folder_ / "file", "old");
  const fs::path path = folder_ / "file" / "out.json";
  EXPECT_NE(early_refusal(path), "");
  EXPECT_NE(refusal(path), "");
  EXPECT_EQ(text_of(folder_ / "file"), "old");
}

TEST_F(File, NameThatIsTooLongIsRefused) {
  expect_refused(folder_ / std::string(300, 'x'), "File name too long");
}

TEST_F(File, FullDiskLeavesTheOldFileWhole) {
  write(path_, "old");
  std::string sentence;
  {
    const FullDisk full(1000);
    sentence = sentence_of([&] { write(path_, std::string(100'000, 'x')); });
  }
  EXPECT_EQ(sentence, "the report " + path_.string() + " cannot be written: File too large");
  EXPECT_EQ(text_of(path_), "old");
  EXPECT_EQ(folder_.entries(), 1) << "the file that was begun is still there";
}

TEST_F(File, LeftoverOfAKilledRunIsReplaced) {
  fs::path partial = path_;
  partial += ".partial";
  write(partial, "the long leftover of a run that was killed");
  EXPECT_EQ(early_refusal(path_), "");
  write(partial, "the long leftover of a run that was killed");
  write(path_, "new");
  EXPECT_EQ(text_of(path_), "new");
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(File, LinkStaysALinkAndItsFileIsReplaced) {
  fs::create_directory(folder_ / "elsewhere");
  write(folder_ / "elsewhere" / "real", "old");
  fs::create_symlink("elsewhere/second", path_);
  fs::create_symlink("real", folder_ / "elsewhere" / "second");
  EXPECT_EQ(early_refusal(path_), "");
  write(path_, "new");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "elsewhere" / "second"));
  EXPECT_EQ(text_of(folder_ / "elsewhere" / "real"), "new");
  EXPECT_EQ(folder_.entries(), 2);
}

TEST_F(File, LinkToAFileThatDoesNotExistYetIsFollowed) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_symlink("elsewhere/real", path_);
  EXPECT_EQ(early_refusal(path_), "");
  write(path_, "new");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(text_of(folder_ / "elsewhere" / "real"), "new");
}

TEST_F(File, LinksInALoopAreRefused) {
  fs::create_symlink("out.json", folder_ / "other");
  fs::create_symlink("other", path_);
  expect_refused(path_, "Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(path_));
}

}  // namespace
}  // namespace stagewise
