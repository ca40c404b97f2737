#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
  EXPECT_EQ(early_refusal(path_), "");
  EXPECT_EQ(folder_.entries(), 0) << "left by the check";
  for (const char* const text : {"first", "2nd", ""}) {
    write(path_, text);
    EXPECT_EQ(early_refusal(path_), "");
    EXPECT_EQ(text_of(path_), text);
  }
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(File, AnyNameWillDo) {
  for (const std::string& name : {std::string("with space"), std::string("\xff\xfe"), std::string("-o"),
                                  std::string("ä.json"), std::string("a'b\"c"), std::string(255, 'x')}) {
    EXPECT_EQ(early_refusal(folder_ / name), "");
    for (const char* const text : {"old", "new"}) {
      write(folder_ / name, text);
      EXPECT_EQ(text_of(folder_ / name), text);
    }
  }
  EXPECT_EQ(folder_.entries(), 6);
}

TEST_F(File, WhoseNameLeadsNowhereIsRefused) {
  EXPECT_EQ(early_refusal(""), "the report needs a file name, but it is empty");
  EXPECT_NE(refusal(""), "");
  expect_refused(folder_.path(), "it is a folder");
  expect_refused(folder_ / "missing" / "out.json", "there is no folder " + (folder_ / "missing").string());
  expect_refused(folder_ / std::string(300, 'x'), "File name too long");
  expect_refused("/dev/full", "it is not a regular file");
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_refused(fifo, "it is not a regular file");
  EXPECT_TRUE(fs::is_fifo(fifo));
  write(path_, "old");
  EXPECT_NE(early_refusal(path_ / "out.json"), "") << "a file is no folder";
  EXPECT_NE(refusal(path_ / "out.json"), "");
  EXPECT_EQ(text_of(path_), "old");
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  expect_refused(folder_ / "a", "Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
}

TEST_F(File, GrowsByAllOrNothing) {
  const auto append = [&](std::size_t count) {
    const std::string text(count, 'x');
    return sentence_of([&] { append_to_file(path_, std::as_bytes(std::span(text)), "table"); });
  };
  EXPECT_EQ(append(3), "the table " + path_.string() + " cannot be written: No such file or directory");
  write(path_, "first\n");
  const fs::path link = folder_ / "link";
  fs::create_hard_link(path_, link);
  EXPECT_EQ(append(3), "");
  EXPECT_EQ(text_of(link), "first\nxxx") << "it is another file now";
  const FullDisk full(1000);
  EXPECT_EQ(append(2000), "the table " + path_.string() + " cannot be written: File too large");
  EXPECT_EQ(text_of(path_), "first\nxxx");
}

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): for a handler
fs::path file_to_move;
fs::path place_to_move_to;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// The disk fills up after a part; just then, somebody renames the file.
TEST_F(File, ThatIsRenamedMeanwhileKeepsNoPartEither) {
  write(path_, "first\n");
  file_to_move = path_;
  place_to_move_to = folder_ / "moved";
  const FullDisk full(1000);
  std::signal(SIGXFSZ, [](int) { ::rename(file_to_move.c_str(), place_to_move_to.c_str()); });
  const std::string text(2000, 'x');
  EXPECT_NE(sentence_of([&] { append_to_file(path_, std::as_bytes(std::span(text)), "table"); }), "");
  EXPECT_EQ(text_of(place_to_move_to), "first\n");
}

/// While in scope, new files get at most these permissions.
class Umask {
 public:
  explicit Umask(mode_t denied) : before_(umask(denied)) {}
  ~Umask() { umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

struct stat status_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status;
}

mode_t permissions_of(const fs::path& path) { return status_of(path).st_mode & 07777; }

TEST_F(File, HasThePermissionsOfTheOneThatIsReplaced) {
  const Umask umask(022);
  write(path_, "new");
  EXPECT_EQ(permissions_of(path_), 0644U) << "a new file's follow from the umask";
  for (const mode_t permissions : {0600, 0640, 0666, 0777, 0200}) {
    ASSERT_EQ(chmod(path_.c_str(), permissions), 0);
    NewFile file(path_, "report");
    EXPECT_EQ(permissions_of(partial_file_in(folder_.path())) & 077 & ~permissions, 0U)
        << "more may read it while it is written";
    file.publish();
    EXPECT_EQ(permissions_of(path_), permissions);
  }
}

TEST_F(File, HasTheOwnerAndGroupOfTheOneThatIsReplaced) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write(path_, "old");
  ASSERT_EQ(chown(path_.c_str(), 1234, 5678), 0);
  write(path_, "new");
  EXPECT_EQ(status_of(path_).st_uid, 1234U);
  EXPECT_EQ(status_of(path_).st_gid, 5678U);
}

TEST_F(File, ThatIsReadOnlyIsRefusedAlsoIfItBecameSoMeanwhile) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  write(path_, "old");
  NewFile file(path_, "report");
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  expect_refused(path_, "Permission denied");
  EXPECT_EQ(sentence_of([&] { file.publish(); }),
            "the report " + path_.string() + " cannot be written: Permission denied");
  EXPECT_EQ(text_of(path_), "old");
}

TEST_F(File, WhosePlaceIsTakenOrVanishesMeanwhileIsRefused) {
  const fs::path folder = folder_ / "short-lived";
  fs::create_directory(folder);
  {
    NewFile file(folder / "out.json", "report");
    fs::create_directory(folder / "out.json");
    expect_contains(sentence_of([&] { file.publish(); }), "cannot be written: it is a folder");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  {
    NewFile late(folder / "late.json", "report");
    fs::remove_all(folder);
    expect_contains(sentence_of([&] { late.publish(); }), "late.json cannot be written: there is no folder ");
  }
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(File, OfManyWritersIsThatOfOneOfThemAndWhole) {
  constexpr int writers = 8;
  constexpr std::size_t bytes = 30'000;
  const auto is_whole = [&](const std::string& text) {
    return text.size() == bytes && text.find_first_not_of(text[0]) == std::string::npos;
  };
  write(path_, std::string(bytes, 'a'));
  std::atomic<int> busy = writers;
  std::vector<std::string> complaints(writers);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      const std::string text(bytes, static_cast<char>('a' + writer));
      for (int i = 0; i < 10; ++i) {
        complaints[writer] += sentence_of([&] { check_writable(path_, "report"); });
        complaints[writer] += sentence_of([&] { write(path_, text); });
      }
      --busy;
    });
  }
  while (busy > 0) EXPECT_TRUE(is_whole(text_of(path_)));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complaints, std::vector<std::string>(writers));
  EXPECT_TRUE(is_whole(text_of(path_)));
  EXPECT_EQ(folder_.entries(), 1);
}

/// Found out before a training, not when its checkpoint is to be put in place.
TEST_F(File, OfSomebodyElseInAStickyFolderIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  write(path_, "old");
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(chmod(path_.parent_path().c_str(), 01777), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (setuid(nobody) != 0) _exit(2);
    const std::string sentence = sentence_of([&] { check_writable(path_, "report"); });
    _exit(sentence.find("belongs to somebody else") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.entries(), 1);
}

/// Whenever a run ends, the old file is whole.
TEST_F(File, OfAnInterruptedRunIsTheOldOne) {
  write(path_, "old");
  for (const int number : {SIGINT, SIGKILL}) {
    SCOPED_TRACE(strsignal(number));
    int ready[2];  // NOLINT(*-avoid-c-arrays): as pipe() takes it
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);                     // should the test itself be killed, do not go on for ever
      std::signal(number, SIG_DFL);  // nohup and shells may have it ignored
      NewFile file(path_, "report");
      file.write(std::as_bytes(std::span("new")));
      if (::write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(kill(child, number), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number);
    EXPECT_EQ(text_of(path_), "old");
    close(ready[0]);
    close(ready[1]);
  }
}

TEST_F(File, LinkStaysALinkAndItsFileIsReplacedOrMade) {
  fs::create_directory(folder_ / "elsewhere");
  write(folder_ / "elsewhere" / "real", "old");
  fs::create_symlink("elsewhere/second", path_);
  fs::create_symlink("real", folder_ / "elsewhere" / "second");
  for (const bool exists : {true, false}) {
    if (!exists) fs::remove(folder_ / "elsewhere" / "real");
    EXPECT_EQ(early_refusal(path_), "");
    write(path_, "new");
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_TRUE(fs::is_symlink(folder_ / "elsewhere" / "second"));
    EXPECT_EQ(text_of(folder_ / "elsewhere" / "real"), "new");
    EXPECT_EQ(folder_.entries(), 2);
  }
}

// ------------------------------------------------------------------------------- the same file

TEST_F(File, IsTheSameByAnyName) {
  write(path_, "old");
  fs::create_directory(folder_ / "sub");
  fs::create_symlink(path_, folder_ / "link");
  fs::create_symlink("link", folder_ / "link to the link");
  fs::create_hard_link(path_, folder_ / "hard link");
  fs::create_directory_symlink(".", folder_ / "sub" / "up");
  fs::create_directory_symlink("..", folder_ / "sub" / "parent");
  for (const fs::path& other : {path_, folder_ / "." / "out.json", folder_ / "sub" / ".." / "out.json",
                                folder_ / "link", folder_ / "link to the link", folder_ / "hard link",
                                folder_ / "sub" / "parent" / "out.json", fs::relative(path_)}) {
    EXPECT_TRUE(is_same_file(path_, other)) << other;
    EXPECT_TRUE(is_same_file(other, path_)) << other;
  }
  write(folder_ / "another", "old");
  for (const fs::path& other :
       {folder_ / "another", folder_ / "none", folder_ / "sub", folder_ / "sub" / "out.json", fs::path("out.json")}) {
    EXPECT_FALSE(is_same_file(path_, other)) << other;
    EXPECT_FALSE(is_same_file(other, path_)) << other;
  }
}

TEST_F(File, IsTheSameBeforeItExists) {
  fs::create_directory(folder_ / "sub");
  fs::create_directory_symlink(folder_ / "sub", folder_ / "folder");
  fs::create_symlink("sub/new", folder_ / "link");
  const fs::path path = folder_ / "sub" / "new";
  EXPECT_TRUE(is_same_file(path, folder_ / "folder" / "new"));
  EXPECT_TRUE(is_same_file(path, folder_ / "link"));
  EXPECT_TRUE(is_same_file(path, folder_ / "sub" / ".." / "folder" / "." / "new"));
  EXPECT_FALSE(is_same_file(path, folder_ / "new"));
}

TEST_F(File, LinksInLoopsAreTheSameAsNoOther) {
  for (const char* const name : {"a", "b"}) fs::create_symlink(name, folder_ / name);
  EXPECT_FALSE(is_same_file(folder_ / "a", folder_ / "b"));
}

}  // namespace
}  // namespace stagewise
